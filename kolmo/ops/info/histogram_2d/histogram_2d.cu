#include "kolmo/device/grid.cuh"
#include "kolmo/device/multiprocessors.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/info/histogram_2d/bins.hpp"
#include "kolmo/ops/info/histogram_2d/histogram_2d.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {
using A = Histogram2dArgs;

/// A shape of the kernel that counts in 32 bits: its threads per block, whether it counts in shared memory,
/// for which the bins must fit, and its samples per thread.
struct Shape {
  int block;
  bool shared;
  std::int64_t per_thread;
};
constexpr Shape shapes[] = {{256, true, 32}, {512, true, 64}, {256, false, 4}};
constexpr int halves = 3;  // the variant that counts in 16 bits
constexpr Row<NoConfig> variants[] = {
    {"shared, block 256"}, {"shared, block 512"}, {"global, block 256"}, {"shared, 16 bits, block 1024"}};
constexpr std::int64_t shared_bins = 12 * 1024;  // 48 KiB of 32-bit counts

__global__ void zero(std::int64_t* counts, std::int64_t n) {
  for (std::int64_t i = cuda::thread_index(); i < n; i += cuda::thread_count()) counts[i] = 0;
}

__device__ void add(std::int64_t* count, std::uint32_t n) {
  atomicAdd(reinterpret_cast<unsigned long long*>(count), static_cast<unsigned long long>(n));
}

/// Calls count(bin) for each sample from begin to end that is counted. All threads of a block call it.
template <int Block, class T, class Count>
__device__ void each_bin(const T* x, const T* y, std::int64_t begin, std::int64_t end, const Bins& bins_x,
                         const Bins& bins_y, bool clamp, const Count& count) {
  constexpr int together = 4;
  for (std::int64_t first = begin + threadIdx.x; first < end; first += Block * together) {
    T of_x[together], of_y[together];  // without a branch all reads are in flight at once
#pragma unroll
    for (int j = 0; j < together; ++j) {
      const std::int64_t i = first + j * Block < end ? first + j * Block : first;
      of_x[j] = x[i], of_y[j] = y[i];
    }
#pragma unroll
    for (int j = 0; j < together; ++j) {
      const std::int64_t row = bins_x.of(double(of_x[j]), clamp), column = bins_y.of(double(of_y[j]), clamp);
      if (row >= 0 && column >= 0 && first + j * Block < end) count(row * bins_y.count + column);
    }
  }
}

/// Counts in 32 bits, in shared memory or in the histogram itself. A block that counts a whole histogram stores its counts,
/// others add theirs.
template <class T, int V>
__global__ void __launch_bounds__(shapes[V].block)
    count(const T* x, const T* y, std::int64_t* counts, std::int64_t n, std::int64_t parts,
          std::int64_t items, Bins bins_x, Bins bins_y, bool clamp) {
  constexpr int block = shapes[V].block;
  constexpr std::int64_t part = block * shapes[V].per_thread;
  const std::int64_t bins = bins_x.count * bins_y.count;
  auto* const local = cuda::dynamic_shared<std::uint32_t>();
  for (std::int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const std::int64_t b = item / parts, first = item % parts * part;
    const std::int64_t end = first + part < n ? first + part : n;
    std::int64_t* const to = counts + b * bins;
    if constexpr (shapes[V].shared) {
      for (std::int64_t i = threadIdx.x; i < bins; i += block) local[i] = 0;
      __syncthreads();
    }
    each_bin<block>(x + b * n, y + b * n, first, end, bins_x, bins_y, clamp, [&](std::int64_t bin) {
      if constexpr (shapes[V].shared)
        atomicAdd(local + bin, 1u);
      else
        add(to + bin, 1);
    });
    if constexpr (shapes[V].shared) {
      __syncthreads();
      for (std::int64_t i = threadIdx.x; i < bins; i += block) {
        if (parts == 1)
          to[i] = local[i];
        else if (local[i])
          add(to + i, local[i]);
      }
      __syncthreads();
    }
  }
}

/// Counts in 16 bits. Each block counts a share of one histogram; there are at most as many shares as multiprocessors, and
/// add_halves adds their counts.
struct HalfCounts {
  static constexpr int block = 1024;
  static constexpr std::int64_t least_samples = 1 << 16;
  std::int64_t bins, words, batch, n, parts;
  std::uint32_t* partial;

  HalfCounts(Arena& arena, const A& a)
      : bins(a.bins_x * a.bins_y),
        words((bins + 1) / 2),
        batch(a.counts.size() / bins),
        n(a.x.extent[std::size_t(a.x.rank - 1)]) {
    const std::int64_t blocks = cuda::multiprocessors(a.counts.device.index),
                       share = batch > 0 && batch < blocks ? blocks / batch : 1, most = n / least_samples;
    parts = most < 1 ? 1 : most < share ? most : share;
    partial = arena.take<std::uint32_t>(batch * parts * words);
  }
};

template <class T>
__global__ void __launch_bounds__(HalfCounts::block)
    count_halves(HalfCounts h, const T* x, const T* y, std::int64_t* counts, Bins bins_x, Bins bins_y,
                 bool clamp) {
  constexpr int block = HalfCounts::block;
  auto* const local = cuda::dynamic_shared<std::uint32_t>();
  for (std::int64_t item = blockIdx.x; item < h.batch * h.parts; item += gridDim.x) {
    const std::int64_t b = item / h.parts, part = item - b * h.parts, share = (h.n + h.parts - 1) / h.parts,
                       begin = part * share, end = begin + share < h.n ? begin + share : h.n;
    for (std::int64_t i = threadIdx.x; i < h.words; i += block) local[i] = 0;
    __syncthreads();
    each_bin<block>(x + b * h.n, y + b * h.n, begin, end, bins_x, bins_y, clamp, [&](std::int64_t bin) {
      const int place = int(bin % 2) * 16;
      if ((atomicAdd(local + bin / 2, 1u << place) >> place & 0xffff) != 0x7fff) return;
      // Moves half of the range to the histogram. No carry reaches the next bin, as a block has 1024 threads.
      atomicSub(local + bin / 2, 0x8000u << place);
      add(counts + b * h.bins + bin, 0x8000);
    });
    __syncthreads();
    for (std::int64_t i = threadIdx.x; i < h.words; i += block) h.partial[item * h.words + i] = local[i];
    __syncthreads();
  }
}

/// Adds the counts of the parts. A block has 32 neighbouring words, and each of its warps adds those of some of the parts.
constexpr int add_block = 256;
__global__ void __launch_bounds__(add_block) add_halves(HalfCounts h, std::int64_t* counts) {
  constexpr int warps = add_block / 32;
  __shared__ std::int64_t sums[warps][2][32];
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  const std::int64_t words = h.batch * h.words;
  for (std::int64_t first = std::int64_t(blockIdx.x) * 32; first < words;
       first += std::int64_t(gridDim.x) * 32) {
    const std::int64_t i = first + lane < words ? first + lane : first, b = i / h.words,
                       word = i - b * h.words;
    const std::uint32_t* const from = h.partial + b * h.parts * h.words + word;
    std::int64_t even = 0, odd = 0;
#pragma unroll 8
    for (std::int64_t p = warp; p < h.parts; p += warps) {
      const std::uint32_t both = from[p * h.words];
      even += both & 0xffff, odd += both >> 16;
    }
    sums[warp][0][lane] = even, sums[warp][1][lane] = odd;
    __syncthreads();
    if (warp < 2 && first + lane < words && 2 * word + warp < h.bins) {
      std::int64_t sum = 0;
#pragma unroll
      for (int w = 0; w < warps; ++w) sum += sums[w][warp][lane];
      counts[b * h.bins + 2 * word + warp] += sum;
    }
    __syncthreads();
  }
}

template <class T>
void launch_halves(const A& a, Arena& arena, Stream& s) {
  const HalfCounts h(arena, a);
  auto* const counts = a.counts.as<std::int64_t>();
  cuda::launch(count_halves<T>, cuda::blocks(h.batch * h.parts, 1), HalfCounts::block,
               std::size_t(h.words) * sizeof(std::uint32_t), cuda::native(s), h, a.x.as<T>(), a.y.as<T>(),
               counts, Bins(a.x_min, a.x_max, a.bins_x), Bins(a.y_min, a.y_max, a.bins_y),
               a.outside == OutsidePolicy::clamp);
  cuda::launch(add_halves, cuda::blocks(h.batch * h.words, 32), add_block, 0, cuda::native(s), h, counts);
}

void launch(const A& a, Arena arena, Stream& s, int variant) {
  const std::int64_t n = a.x.extent[std::size_t(a.x.rank - 1)], bins = a.bins_x * a.bins_y,
                     batch = a.counts.size() / bins;
  auto* const counts = a.counts.as<std::int64_t>();
  const auto parts_of = [n](const Shape& shape) {
    const std::int64_t part = shape.block * shape.per_thread;
    return (n + part - 1) / part;
  };
  const bool stored = variant != halves && shapes[variant].shared && parts_of(shapes[variant]) == 1;
  if (!stored)
    cuda::launch(zero, cuda::blocks(a.counts.size(), 256), 256, 0, cuda::native(s), counts, a.counts.size());
  visit<double, float>(a.x.dtype, [&]<class T> {
    if (variant == halves) return launch_halves<T>(a, arena, s);
    cuda::select<std::size(shapes)>(variant, [&]<int V> {
      const std::int64_t parts = parts_of(shapes[V]);
      const std::size_t shared = shapes[V].shared ? std::size_t(bins) * sizeof(std::uint32_t) : 0;
      cuda::launch(count<T, V>, cuda::blocks(batch * parts, 1), shapes[V].block, shared, cuda::native(s),
                   a.x.as<T>(), a.y.as<T>(), counts, n, parts, batch * parts,
                   Bins(a.x_min, a.x_max, a.bins_x), Bins(a.y_min, a.y_max, a.bins_y),
                   a.outside == OutsidePolicy::clamp);
    });
  });
}

/// Returns how many bytes of shared memory a block may have on a device: 99 to 227 KB.
std::int64_t most_shared([[maybe_unused]] int device) {
  int bytes = 227 * 1024;
#ifndef SIMT
  if (cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
    (void)cudaGetLastError();  // clears the error, which the next launch would report
#endif
  return bytes;
}

bool fits(const A& a, int variant) {
  const std::int64_t bins = a.bins_x * a.bins_y;
  if (variant == halves)
    return (bins + 1) / 2 * std::int64_t(sizeof(std::uint32_t)) <= most_shared(a.counts.device.index);
  return !shapes[variant].shared || bins <= shared_bins;
}
/// Prefers the histogram itself for many bins and few samples: setting counts in shared memory to 0 would take longer than counting.
int preferred(const A& a) {
  const std::int64_t bins = a.bins_x * a.bins_y, n = a.x.extent[std::size_t(a.x.rank - 1)];
  return bins <= shared_bins ? 0 : n >= 8 * bins && fits(a, halves) ? halves : 2;
}
void lay(Arena& arena, const A& a, const Site& site) {
  if (site.row == halves) HalfCounts(arena, a);
}

}  // namespace

extern constinit const Impl<Histogram2dArgs> histogram_2d_cuda{
    {.rows = variants, .launch = launch, .lay = lay, .fits = fits, .preferred = preferred}};

}  // namespace kolmo
