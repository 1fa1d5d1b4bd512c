#include "kolmo/device/grid.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/info/histogram_2d/bins.hpp"
#include "kolmo/ops/info/histogram_2d/histogram_2d.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {
using A = Histogram2dArgs;

/// A block counts `per_thread` samples per thread of one histogram, in shared memory if the bins fit.
struct Shape {
  int block;
  bool shared;
  std::int64_t per_thread;
};
constexpr Shape shapes[] = {{256, true, 32}, {512, true, 64}, {256, false, 4}};
constexpr Row<NoConfig> variants[] = {{"shared, block 256"}, {"shared, block 512"}, {"global, block 256"}};
constexpr std::int64_t shared_bins = 12 * 1024;  // 48 KiB of 32-bit counts

__global__ void zero(std::int64_t* counts, std::int64_t n) {
  for (std::int64_t i = cuda::thread_index(); i < n; i += cuda::thread_count()) counts[i] = 0;
}

__device__ void add(std::int64_t* count, std::uint32_t n) {
  atomicAdd(reinterpret_cast<unsigned long long*>(count), static_cast<unsigned long long>(n));
}

template <class T, int V>
__global__ void __launch_bounds__(shapes[V].block)
    count(const T* x, const T* y, std::int64_t* counts, std::int64_t n, std::int64_t parts,
          std::int64_t items, Bins bins_x, Bins bins_y, bool clamp) {
  constexpr std::int64_t part = shapes[V].block * shapes[V].per_thread;
  const std::int64_t bins = bins_x.count * bins_y.count;
  auto* const local = cuda::dynamic_shared<std::uint32_t>();
  for (std::int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const std::int64_t b = item / parts, first = item % parts * part;
    const std::int64_t end = first + part < n ? first + part : n;
    if constexpr (shapes[V].shared) {
      for (std::int64_t i = threadIdx.x; i < bins; i += shapes[V].block) local[i] = 0;
      __syncthreads();
    }
    for (std::int64_t i = first + threadIdx.x; i < end; i += shapes[V].block) {
      const std::int64_t row = bins_x.of(double(x[b * n + i]), clamp),
                         column = bins_y.of(double(y[b * n + i]), clamp);
      if (row < 0 || column < 0) continue;
      const std::int64_t bin = row * bins_y.count + column;
      if constexpr (shapes[V].shared)
        atomicAdd(local + bin, 1u);
      else
        add(counts + b * bins + bin, 1);
    }
    if constexpr (shapes[V].shared) {
      __syncthreads();
      for (std::int64_t i = threadIdx.x; i < bins; i += shapes[V].block)
        if (local[i]) add(counts + b * bins + i, local[i]);
      __syncthreads();
    }
  }
}

void launch(const A& a, Arena, Stream& s, int variant) {
  const std::int64_t n = a.x.extent[std::size_t(a.x.rank - 1)], bins = a.bins_x * a.bins_y,
                     batch = a.counts.size() / bins;
  auto* const counts = a.counts.as<std::int64_t>();
  cuda::launch(zero, cuda::blocks(a.counts.size(), 256), 256, 0, cuda::native(s), counts, a.counts.size());
  visit<double, float>(a.x.dtype, [&]<class T> {
    cuda::select<std::size(shapes)>(variant, [&]<int V> {
      const std::int64_t part = shapes[V].block * shapes[V].per_thread, parts = (n + part - 1) / part;
      const std::size_t shared = shapes[V].shared ? std::size_t(bins) * sizeof(std::uint32_t) : 0;
      cuda::launch(count<T, V>, cuda::blocks(batch * parts, 1), shapes[V].block, shared, cuda::native(s),
                   a.x.as<T>(), a.y.as<T>(), counts, n, parts, batch * parts,
                   Bins(a.x_min, a.x_max, a.bins_x), Bins(a.y_min, a.y_max, a.bins_y),
                   a.outside == OutsidePolicy::clamp);
    });
  });
}

bool fits(const A& a, int variant) { return !shapes[variant].shared || a.bins_x * a.bins_y <= shared_bins; }

}  // namespace

extern constinit const Impl<Histogram2dArgs> histogram_2d_cuda{
    {.rows = variants, .launch = launch, .fits = fits}};

}  // namespace kolmo
