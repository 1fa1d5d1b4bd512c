#include "kolmo/device/grid.cuh"
#include "kolmo/ops/info/nearest_neighbors/nearest_neighbors.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

constexpr int block_sizes[] = {128, 64, 256};
constexpr Variant variants[] = {{"block 128"}, {"block 64"}, {"block 256"}};
constexpr int max_k = 64;

struct Problem {
  std::int64_t n, d, k, theiler;
  const std::int32_t* set;
  double* distance;
  std::int64_t* index;
};

/// A thread is a point; the block reads all points through shared memory, a tile of `blockDim.x` at a time.
/// Rows come in order, so an equally near row that comes later is not taken.
template <class T, int V>
__global__ void __launch_bounds__(block_sizes[V]) search(Problem p, const T* x) {
  T* tile = cuda::dynamic_shared<T>();
  double best[max_k];
  std::int64_t row[max_k];
  const std::int64_t size = blockDim.x, i = std::int64_t(blockIdx.x) * size + threadIdx.x;
  const bool mine = i < p.n;
  double worst = HUGE_VAL;
  for (std::int64_t c = 0; c < p.k; ++c) best[c] = HUGE_VAL, row[c] = -1;
  for (std::int64_t begin = 0; begin < p.n; begin += size) {
    const std::int64_t rows = p.n - begin < size ? p.n - begin : size;
    __syncthreads();
    for (std::int64_t e = threadIdx.x; e < rows * p.d; e += size) tile[e] = x[begin * p.d + e];
    __syncthreads();
    if (!mine) continue;
    for (std::int64_t r = 0; r < rows; ++r) {
      double e = 0;
      for (std::int64_t c = 0; c < p.d && e < worst; ++c)
        e = fmax(e, fabs(double(tile[r * p.d + c]) - double(x[i * p.d + c])));
      if (!(e < worst)) continue;
      const std::int64_t j = begin + r, apart = j < i ? i - j : j - i;
      if (apart <= p.theiler && (!p.set || p.set[i] == p.set[j])) continue;
      std::int64_t at = p.k - 1;
      for (; at > 0 && best[at - 1] > e; --at) best[at] = best[at - 1], row[at] = row[at - 1];
      best[at] = e, row[at] = j;
      worst = best[p.k - 1];
    }
  }
  for (std::int64_t c = 0; mine && c < p.k; ++c) {
    p.distance[i * p.k + c] = best[c];
    if (p.index) p.index[i * p.k + c] = row[c];
  }
}

void launch(const NearestNeighborsArgs& a, void*, Stream& s, int variant) {
  const Problem p{a.x.extent[0],
                  a.x.extent[1],
                  a.k,
                  a.theiler,
                  a.set.given() ? a.set.as<std::int32_t>() : nullptr,
                  a.distance.as<double>(),
                  a.index.given() ? a.index.as<std::int64_t>() : nullptr};
  visit<double, float>(a.x.dtype, [&]<class T> {
    cuda::select<std::size(block_sizes)>(variant, [&]<int V> {
      constexpr int size = block_sizes[V];
      cuda::launch(search<T, V>, unsigned((p.n + size - 1) / size), size, std::size_t(size * p.d) * sizeof(T),
                   cuda::native(s), p, a.x.as<T>());
    });
  });
}

}  // namespace

extern constinit const CudaImpl nearest_neighbors_cuda = cuda_impl<NearestNeighborsArgs, launch>(variants);

}  // namespace kolmo
