#include <bit>
#include <type_traits>

#include "kolmo/base/pack.hpp"
#include "kolmo/device/async.cuh"
#include "kolmo/device/grid.cuh"
#include "kolmo/device/read_once.cuh"
#include "kolmo/device/spread.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/info/histogram_2d/bins.hpp"
#include "kolmo/ops/info/histogram_2d/histogram_2d.hpp"
#include "kolmo/ops/info/histogram_2d/shares.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {
using A = Histogram2dArgs;

constexpr Row<NoConfig> variants[] = {{"shared, block 256"},
                                      {"shared, block 512"},
                                      {"global, block 256"},
                                      {"shared, 16 bits, block 1024"},
                                      {"shared, 8 bits, block 1024"}};
/// Reads of so many packs of x and of y are in flight in each thread, if they are aligned: registers hold no more of others.
constexpr int aligned_stages = 3;
/// As many are on their way to a ring in shared memory, which needs no registers. There a pack waits for its own copies, while
/// ptxas gives all reads into registers one barrier: each pack waits for the reads that were started last.
constexpr int ring_stages = 3;
constexpr bool in_ring(int variant) { return variant == bytes; }
constexpr int ring_words(int variant) {
  return in_ring(variant) ? ring_stages * 2 * shapes[variant].block * 4 : 0;
}
/// The ring, at the begin of a block's shared memory.
template <int V>
__device__ auto ring() {
  if constexpr (in_ring(V))
    return cuda::dynamic_shared<std::uint32_t>();
  else
    return nullptr;
}

__global__ void zero(cuda::EarlyStart early, std::int64_t* counts, std::int64_t n) {
  early.wait();
  for (std::int64_t i = cuda::thread_index(); i < n; i += cuda::thread_count()) counts[i] = 0;
}

/// A block's share of the samples, and what it does with them.
template <class T>
struct Samples {
  const T *x, *y;
  Bins bins_x, bins_y;
  bool clamp;

  /// Calls count(bins) for the samples of a share that are counted, the n-th of the first on, one or several at a time, by a
  /// block. prepare() is called before, when the first reads are in flight. `ring` is shared memory for them, or null.
  template <int Block, class Index, class Ring, class Prepare, class Count>
  __device__ void each_bin(std::int64_t first, int n, Ring ring, const Prepare& prepare,
                           const Count& count) const {
    constexpr int width = pack_width<T>;
    const T *const from_x = x + first, *const from_y = y + first;
    const bool aligned =
        (reinterpret_cast<std::uintptr_t>(from_x) | reinterpret_cast<std::uintptr_t>(from_y)) % 16 == 0;
    const int packs = aligned ? int(unsigned(n) / width) : int(unsigned(n) / (width * Block)) * Block;
    if (!aligned)
      each_pack<Block, Index, false>(from_x, from_y, packs, prepare, count);
    else if constexpr (std::is_null_pointer_v<Ring>)
      each_pack<Block, Index, true>(from_x, from_y, packs, prepare, count);
    else
      each_pack_in_ring<Block, Index>(from_x, from_y, packs, ring, prepare, count);
    for (int at = packs * width + int(threadIdx.x); at < n; at += Block) {
      const T of_x[1] = {from_x[at]}, of_y[1] = {from_y[at]};
      take<Index>(of_x, of_y, count, [] {});
    }
  }

  /// The same of n packs, some of which are being read while one is counted. Unless they are aligned, the samples of a pack
  /// are Block apart.
  template <int Block, class Index, bool Aligned, class Prepare, class Count>
  __device__ void each_pack(const T* from_x, const T* from_y, int n, const Prepare& prepare,
                            const Count& count) const {
    constexpr int width = pack_width<T>;
    using Some = Pack<T, width>;
    using Words = Pack<std::uint32_t, 4>;
    const int own = int(threadIdx.x);
    constexpr int stages = Aligned ? aligned_stages : 1;
    std::conditional_t<Aligned, Words, Some> next_x[stages], next_y[stages];
    const auto read = [&](int pack, int stage) {
      if (pack >= n) return;
      if constexpr (Aligned) {
        next_x[stage] = cuda::read_once<4>(from_x + pack * width);
        next_y[stage] = cuda::read_once<4>(from_y + pack * width);
      } else {
        const int at = (pack - own) * width + own;
#pragma unroll
        for (int j = 0; j < width; ++j)
          next_x[stage].value[j] = from_x[at + j * Block], next_y[stage].value[j] = from_y[at + j * Block];
      }
    };
#pragma unroll
    for (int s = 0; s < stages; ++s) read(own + s * Block, s);
    prepare();
    for (int first = own; first < n; first += stages * Block)
#pragma unroll
      for (int s = 0; s < stages; ++s) {
        const int pack = first + s * Block;
        if (pack >= n) break;
        const auto of_x = std::bit_cast<Some>(next_x[s]), of_y = std::bit_cast<Some>(next_y[s]);
        take<Index>(of_x.value, of_y.value, count, [&] { read(pack + stages * Block, s); });
      }
  }

  /// The same of n aligned packs through a ring. Each thread copies what it counts.
  template <int Block, class Index, class Prepare, class Count>
  __device__ void each_pack_in_ring(const T* from_x, const T* from_y, int n, std::uint32_t* ring,
                                    const Prepare& prepare, const Count& count) const {
    constexpr int width = pack_width<T>;
    using Some = Pack<T, width>;
    Some* const own = reinterpret_cast<Some*>(ring) + threadIdx.x;
    const auto read = [&](int pack, Some* to) {
      cuda::copy_async(to, reinterpret_cast<const Some*>(from_x) + pack, pack < n);
      cuda::copy_async(to + Block, reinterpret_cast<const Some*>(from_y) + pack, pack < n);
      cuda::commit_copies();
    };
#pragma unroll
    for (int s = 0; s < ring_stages; ++s) read(int(threadIdx.x) + s * Block, own + s * 2 * Block);
    prepare();
    int stage = 0;
#pragma unroll 1
    for (int pack = int(threadIdx.x); pack < n; pack += Block) {
      cuda::wait_copies<ring_stages - 1>();
      Some* const at = own + stage * 2 * Block;
      const Some of_x = at[0], of_y = at[Block];
      take<Index>(of_x.value, of_y.value, count, [&] { read(pack + ring_stages * Block, at); });
      stage = stage + 1 < ring_stages ? stage + 1 : 0;
    }
    cuda::wait_copies<0>();
  }

  /// Counts some samples, and calls taken() when they are no longer needed.
  template <class Index, int W, class Count, class Taken>
  __device__ void take(const T (&of_x)[W], const T (&of_y)[W], const Count& count, const Taken& taken) const {
    Index bins[W];
    bool sure = true;
#pragma unroll
    for (int j = 0; j < W; ++j) {
      int row = 0, column = 0;
      sure &= bins_x.sure(double(of_x[j]), row) & bins_y.sure(double(of_y[j]), column);
      bins[j] = Index(row) * Index(bins_y.count) + Index(column);
    }
    if (!sure)
#pragma unroll 1
      for (int j = 0; j < W; ++j) {
        T one_x = of_x[0], one_y = of_y[0];
#pragma unroll
        for (int k = 1; k < W; ++k)
          if (j == k) one_x = of_x[k], one_y = of_y[k];
        const std::int64_t row = bins_x.of(double(one_x), clamp), column = bins_y.of(double(one_y), clamp);
        const Index one[1] = {Index(row * bins_y.count + column)};
        if (row >= 0 && column >= 0) count(one);
      }
    taken();
    if (sure) count(bins);
  }
};

/// Zeros `words` words of shared memory, a multiple of 4 of them, by a block.
template <int Block>
__device__ void clear(std::uint32_t* words, int n) {
#pragma unroll 4
  for (int i = 4 * int(threadIdx.x); i < n; i += 4 * Block) store_pack(words + i, Pack<std::uint32_t, 4>{});
}

/// Counts of 32 bits in shared memory. Those that a block alone has are stored, others added later.
template <class T, int V>
__global__ void __launch_bounds__(shapes[V].block, shapes[V].residents)
    count(cuda::EarlyStart early, Plan p, Samples<T> samples, std::int64_t* counts) {
  constexpr int block = shapes[V].block;
  auto* const local = cuda::dynamic_shared<std::uint32_t>() + ring_words(V);
  const int copies = p.copies, bins = int(p.bins);
  std::uint32_t* const own = local + threadIdx.x % unsigned(copies);
  early.wait();
  for (std::int64_t item = blockIdx.x; item < p.items(); item += gridDim.x) {
    const Share share(p, item);
    const auto prepare = [&] {
      clear<block>(local, int(p.words) * copies);
      __syncthreads();
    };
    samples.template each_bin<block, std::uint32_t>(share.first, share.n, ring<V>(), prepare,
                                                    [&](const auto& found) {
#pragma unroll
                                                      for (const std::uint32_t bin : found)
                                                        atomicAdd(own + bin * unsigned(copies), 1u);
                                                    });
    __syncthreads();
    const bool alone = p.parts == 1;
    for (int i = int(threadIdx.x); i < (alone ? bins : int(p.words)); i += block) {
      std::uint32_t sum = 0;
      for (int c = 0; c < copies; ++c) sum += local[i * copies + ((i + c) & (copies - 1))];
      if (alone)
        counts[item * p.bins + i] = sum;
      else
        p.partial[item * p.words + i] = sum;
    }
    __syncthreads();
  }
}

template <class T>
__global__ void __launch_bounds__(shapes[global].block, shapes[global].residents)
    count_globally(cuda::EarlyStart early, Plan p, Samples<T> samples, std::int64_t* counts) {
  early.wait();
  for (std::int64_t item = blockIdx.x; item < p.items(); item += gridDim.x) {
    const Share share(p, item);
    auto* const to = reinterpret_cast<unsigned long long*>(counts) + share.b * p.bins;
    samples.template each_bin<shapes[global].block, std::uint64_t>(
        share.first, share.n, nullptr, [] {},
        [&](const auto& found) {
#pragma unroll
          for (const std::uint64_t bin : found) atomicAdd(to + bin, 1ull);
        });
  }
}

/// Counts of 8 or 16 bits in shared memory, several in a word, which are added to as one number: a count that is full passes
/// 1 on to the next of its word. Such wraps are noted.
template <class T, int V>
__global__ void __launch_bounds__(shapes[V].block, shapes[V].residents)
    count_small(cuda::EarlyStart early, Plan p, Samples<T> samples) {
  constexpr int block = shapes[V].block, bits = bits_of(V), each = 32 / bits;
  constexpr std::uint32_t full = (1u << bits) - 1;
  auto* const local = cuda::dynamic_shared<std::uint32_t>() + ring_words(V);
  const int words = int(p.words);
  std::uint32_t *const noted = local + words, *const notes = noted + 1;
  early.wait();
  for (std::int64_t item = blockIdx.x; item < p.items(); item += gridDim.x) {
    const Share share(p, item);
    const auto prepare = [&] {
      clear<block>(local, words);
      if (threadIdx.x == 0) *noted = 0;
      __syncthreads();
    };
    samples.template each_bin<block, std::uint32_t>(
        share.first, share.n, ring<V>(), prepare, [&](const auto& found) {
          constexpr int width = int(std::extent_v<std::remove_reference_t<decltype(found)>>);
          std::uint32_t before[width];
          bool wraps = false;
#pragma unroll
          for (int j = 0; j < width; ++j)
            before[j] = atomicAdd(local + found[j] / each, 1u << found[j] % each * bits);
#pragma unroll
          for (int j = 0; j < width; ++j) wraps |= (~before[j] >> found[j] % each * bits & full) == 0;
          if (wraps)
#pragma unroll
            for (int j = 0; j < width; ++j)
              for (std::uint32_t bin = found[j]; (~before[j] >> bin % each * bits & full) == 0;) {
                notes[atomicAdd(noted, 1u)] = bin;
                if (++bin % each == 0) break;
              }
        });
    __syncthreads();
#pragma unroll 4
    for (int i = 4 * int(threadIdx.x); i < words; i += 4 * block)
      store_pack(p.partial + item * p.words + i, load_pack<4>(local + i));
    const int n = int(*noted);
    for (int i = int(threadIdx.x); i < (n + notes_read - 1) / notes_read * notes_read; i += block)
      p.notes[item * p.most_notes + i] = i < n ? notes[i] : ~0u;
    if (threadIdx.x == 0) p.noted[item] = std::uint32_t(n);
    __syncthreads();
  }
}

std::size_t shared_bytes(const Plan& p, int variant) {
  const std::int64_t words = variant >= halves ? p.words + 1 + p.most_notes : p.words * p.copies;
  return std::size_t(ring_words(variant) + words) * sizeof(std::uint32_t);
}
/// How much a block may have on a device: 99 to 227 KB.
std::size_t most_shared([[maybe_unused]] int device) {
  int bytes = 227 * 1024;
#ifndef SIMT
  if (cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
    (void)cudaGetLastError();  // the next launch would report it
#endif
  return std::size_t(bytes);
}

void launch(const A& a, Arena arena, Stream& s, int variant) {
  const Plan p(arena, a, variant);
  const cudaStream_t stream = cuda::native(s);
  auto* const counts = a.counts.as<std::int64_t>();
  const unsigned blocks = cuda::blocks(p.items(), 1);
  const auto add = [&](auto kernel, int block, int columns) {
    cuda::launch_early(kernel, cuda::blocks(p.batch * groups_of(p, columns), 1), block, 0, stream, p, counts);
  };
  const std::size_t shared = shared_bytes(p, variant);
  visit<double, float>(a.x.dtype, [&]<class T> {
    const Samples<T> samples{a.x.as<T>(), a.y.as<T>(), Bins(a.x_min, a.x_max, a.bins_x),
                             Bins(a.y_min, a.y_max, a.bins_y), a.outside == OutsidePolicy::clamp};
    if (variant == global) {
      cuda::launch_early(zero, cuda::blocks(a.counts.size(), 256), 256, 0, stream, counts, a.counts.size());
      cuda::launch_early(count_globally<T>, blocks, shapes[global].block, 0, stream, p, samples, counts);
      return;
    }
    if (variant >= halves) {
      const auto count = variant == halves ? count_small<T, halves> : count_small<T, bytes>;
      cuda::launch_spread(count, blocks, shapes[variant].block, shared, s, p, samples);
      return variant == halves ? add(add_partials<true>, add_block, add_columns)
                               : add(add_bytes, byte_block, byte_columns);
    }
    cuda::select<global>(variant, [&]<int V> {
      cuda::launch_early(count<T, V>, blocks, shapes[V].block, shared, stream, p, samples, counts);
    });
    if (p.parts > 1) add(add_partials<false>, add_block, add_columns);
  });
}

bool fits(const A& a, int variant) {
  const std::int64_t bins = a.bins_x * a.bins_y, n = a.x.extent[std::size_t(a.x.rank - 1)];
  Arena arena;
  return variant == global ||
         (bins <= (variant >= halves ? most_small : shared_words) &&
          (variant != bytes || n <= most_of_bytes) &&
          shared_bytes(Plan(arena, a, variant), variant) <= most_shared(a.counts.device.index));
}
/// Of many bins small counts are less to add, unless each histogram is a block's own. Few samples are counted before the bins
/// of a block are added.
int preferred(const A& a) {
  const std::int64_t bins = a.bins_x * a.bins_y, n = a.x.extent[std::size_t(a.x.rank - 1)],
                     batch = a.counts.size() / bins;
  constexpr std::int64_t few = 2048;
  if (bins <= few || (bins <= shared_words && (batch >= multiprocessors || n < 4 * bins))) return 0;
  if (bins > most_small || n < 4 * bins) return global;
  if (bins > shared_words && n * (batch < multiprocessors ? batch : multiprocessors) <= most_of_bytes &&
      fits(a, bytes))
    return bytes;
  return fits(a, halves) ? halves : global;
}
void lay(Arena& arena, const A& a, const Site& site) { Plan(arena, a, site.row); }

}  // namespace

extern constinit const Impl<Histogram2dArgs> histogram_2d_cuda{
    {.rows = variants, .launch = launch, .lay = lay, .fits = fits, .preferred = preferred}};

}  // namespace kolmo
