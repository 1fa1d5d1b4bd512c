#include <bit>
#include <type_traits>

#include "kolmo/base/pack.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/device/grid.cuh"
#include "kolmo/device/read_once.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/info/histogram_2d/bins.hpp"
#include "kolmo/ops/info/histogram_2d/histogram_2d.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {
using A = Histogram2dArgs;

/// Blocks have equal shares of the samples of a histogram: as many as run at a time on an H200, but of `least` samples.
struct Shape {
  int block, residents;
  std::int64_t most_blocks, least;
};
constexpr std::int64_t multiprocessors = 132;
constexpr Shape shapes[] = {{256, 4, 4 * multiprocessors, 2048},
                            {512, 2, 2 * multiprocessors, 4096},
                            {256, 2, 1 << 20, 1024},
                            {1024, 1, multiprocessors, 8192}};
constexpr int global = 2, halves = 3;  // the row that counts in global memory, that of 16-bit counts
constexpr Row<NoConfig> variants[] = {
    {"shared, block 256"}, {"shared, block 512"}, {"global, block 256"}, {"shared, 16 bits, block 1024"}};
constexpr std::int64_t shared_words = 12 * 1024, most_halves = 96 * 1024;  // 48 KiB, 192 KiB
/// Reads of so many packs of x and of y are in flight in each thread, if they are aligned: registers hold no more of others.
constexpr int aligned_stages = 3;
/// A 16-bit count that reaches 2^15 is reduced by that, and its bin noted: so often in a share.
constexpr int most_carries = 64;
constexpr std::int64_t carried_count = 1 << 15;

/// The shares, and the counts of each, which are added in the end if a histogram has several.
struct Plan {
  std::int64_t batch, n, bins, parts, length;
  std::int64_t words;      ///< of the counts of a share, a multiple of 4
  int copies;              ///< of 32-bit counts: lanes that differ by no multiple of it never meet in one
  std::uint32_t* partial;  ///< counts of each share
  std::uint32_t* carries;  ///< of each share how many carries, and their bins

  Plan(Arena& arena, const A& a, int variant)
      : batch(a.counts.size() / (a.bins_x * a.bins_y)),
        n(a.x.extent[std::size_t(a.x.rank - 1)]),
        bins(a.bins_x * a.bins_y) {
    const auto quotient_up = [](std::int64_t p, std::int64_t q) { return (p + q - 1) / q; };
    const auto at_least = [](std::int64_t p, std::int64_t q) { return p < q ? q : p; };
    const Shape& shape = shapes[variant];
    const bool half = variant == halves, own = variant != global;
    const std::int64_t least = at_least(shape.least, own ? (half ? 1 : 4) * bins : 0), most = n / least,
                       wanted = shape.most_blocks / at_least(batch, 1),
                       longest = half ? most_carries * carried_count : 1 << 30;
    parts = at_least(at_least(most < wanted ? most : wanted, 1), quotient_up(n, longest));
    length = quotient_up(quotient_up(n, parts), 32) * 32;  // so that shares begin at multiples of 16 bytes
    parts = at_least(quotient_up(n, at_least(length, 1)), 1);
    words = quotient_up(half ? quotient_up(bins, 2) : bins, 4) * 4;
    copies = 1;
    while (copies < 32 && 2 * copies * bins <= shared_words && 2 * copies * bins <= length / 8) copies *= 2;
    partial = arena.take<std::uint32_t>(half || (own && parts > 1) ? batch * parts * words : 0);
    carries = arena.take<std::uint32_t>(half ? batch * parts * (most_carries + 1) : 0);
  }
  KOLMO_HD std::int64_t items() const { return batch * parts; }
};

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
  /// block. prepare() is called before, when the first reads are in flight.
  template <int Block, class Index, class Prepare, class Count>
  __device__ void each_bin(std::int64_t first, int n, const Prepare& prepare, const Count& count) const {
    constexpr int width = pack_width<T>;
    const T *const from_x = x + first, *const from_y = y + first;
    const bool aligned =
        (reinterpret_cast<std::uintptr_t>(from_x) | reinterpret_cast<std::uintptr_t>(from_y)) % 16 == 0;
    const int packs = aligned ? int(unsigned(n) / width) : int(unsigned(n) / (width * Block)) * Block;
    if (aligned)
      each_pack<Block, Index, true>(from_x, from_y, packs, prepare, count);
    else
      each_pack<Block, Index, false>(from_x, from_y, packs, prepare, count);
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

/// Where a block's share begins among all samples, and how many there are.
struct Share {
  std::int64_t b, first;
  int n;
  __device__ Share(const Plan& p, std::int64_t item) : b(quotient(item, p.parts)) {
    const std::int64_t begin = (item - b * p.parts) * p.length, rest = p.n - begin;
    first = b * p.n + begin, n = int(rest < p.length ? rest : p.length);
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
  auto* const local = cuda::dynamic_shared<std::uint32_t>();
  const int copies = p.copies, bins = int(p.bins);
  std::uint32_t* const own = local + threadIdx.x % unsigned(copies);
  early.wait();
  for (std::int64_t item = blockIdx.x; item < p.items(); item += gridDim.x) {
    const Share share(p, item);
    const auto prepare = [&] {
      clear<block>(local, int(p.words) * copies);
      __syncthreads();
    };
    samples.template each_bin<block, std::uint32_t>(share.first, share.n, prepare, [&](const auto& found) {
#pragma unroll
      for (const std::uint32_t bin : found) atomicAdd(own + bin * unsigned(copies), 1u);
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
        share.first, share.n, [] {},
        [&](const auto& found) {
#pragma unroll
          for (const std::uint64_t bin : found) atomicAdd(to + bin, 1ull);
        });
  }
}

/// Counts of 16 bits in shared memory, two in a word.
template <class T>
__global__ void __launch_bounds__(shapes[halves].block, shapes[halves].residents)
    count_halves(cuda::EarlyStart early, Plan p, Samples<T> samples) {
  constexpr int block = shapes[halves].block;
  auto* const local = cuda::dynamic_shared<std::uint32_t>();
  const int words = int(p.words);
  std::uint32_t *const carries = local + words, *const carried = carries + 1;
  early.wait();
  for (std::int64_t item = blockIdx.x; item < p.items(); item += gridDim.x) {
    const Share share(p, item);
    const auto prepare = [&] {
      clear<block>(local, words);
      if (threadIdx.x == 0) *carries = 0;
      __syncthreads();
    };
    samples.template each_bin<block, std::uint32_t>(share.first, share.n, prepare, [&](const auto& found) {
      constexpr int width = int(std::extent_v<std::remove_reference_t<decltype(found)>>);
      std::uint32_t before[width];
#pragma unroll
      for (int j = 0; j < width; ++j) before[j] = atomicAdd(local + found[j] / 2, 1u << found[j] % 2 * 16);
#pragma unroll
      for (int j = 0; j < width; ++j) {
        const std::uint32_t place = found[j] % 2 * 16;
        if ((before[j] >> place & 0xffff) != carried_count - 1) continue;
        // Long before the half is full: the threads of a block add few counts meanwhile.
        atomicSub(local + found[j] / 2, std::uint32_t(carried_count) << place);
        carried[atomicAdd(carries, 1u)] = found[j];
      }
    });
    __syncthreads();
    for (int i = 4 * int(threadIdx.x); i < words; i += 4 * block)
      store_pack(p.partial + item * p.words + i, load_pack<4>(local + i));
    for (int i = int(threadIdx.x); i <= int(*carries); i += block)
      p.carries[item * (most_carries + 1) + i] = carries[i];
    __syncthreads();
  }
}

/// counts = the sum over a histogram's shares. A block adds `add_columns` columns of 16 bytes, which add_lanes threads each read
/// of some shares, `together` at once.
constexpr int add_block = 256, add_columns = 8, add_lanes = add_block / add_columns;
template <bool Halves>
__global__ void __launch_bounds__(add_block, 4)
    add_partials(cuda::EarlyStart early, Plan p, std::int64_t* counts) {
  constexpr int each = Halves ? 8 : 4, sums = add_columns * each, together = Halves ? 5 : 9;
  using Sum = std::conditional_t<Halves, std::uint32_t, std::uint64_t>;
  __shared__ unsigned long long sum[add_lanes][sums + add_columns];  // the pad lets lanes use different banks
  const int column = int(threadIdx.x) % add_columns, lane = int(threadIdx.x) / add_columns;
  const std::int64_t groups = (p.words + 4 * add_columns - 1) / (4 * add_columns);
  early.wait();
  for (std::int64_t item = blockIdx.x; item < p.batch * groups; item += gridDim.x) {
    const std::int64_t b = quotient(item, groups), group = item - b * groups,
                       word = 4 * (group * add_columns + column);
    const std::uint32_t* const from = p.partial + b * p.parts * p.words + word;
    const auto carries_of = [&](std::int64_t part) {
      return p.carries + (b * p.parts + part) * (most_carries + 1);
    };
    const auto carries = [&](std::int64_t part) { return part < p.parts ? *carries_of(part) : 0; };
    std::uint32_t noted = 0;
    if constexpr (Halves) noted = carries(threadIdx.x);
    Sum own[each] = {};
    const std::int64_t step = add_lanes * p.words;
    const std::uint32_t* next = from + lane * p.words;
    for (int left = int((p.parts - lane + add_lanes - 1) / add_lanes); left > 0 && word < p.words;
         left -= together, next += together * step) {
      Pack<std::uint32_t, 4> some[together];  // reads without a branch are all in flight at once
#pragma unroll
      for (int j = 0; j < together; ++j) some[j] = cuda::read_once<4>(j < left ? next + j * step : next);
#pragma unroll
      for (int j = 0; j < together; ++j) {
        const std::uint32_t there = j < left ? ~0u : 0;
#pragma unroll
        for (int e = 0; e < each; ++e)
          own[e] +=
              Halves ? some[j].value[e / 2] >> e % 2 * 16 & 0xffff & there : some[j].value[e % 4] & there;
      }
    }
#pragma unroll
    for (int e = 0; e < each; ++e) sum[lane][e * add_columns + column] = own[e];
    __syncthreads();
    if constexpr (Halves) {
      for (std::int64_t part = threadIdx.x; part < p.parts; part += add_block, noted = carries(part))
        for (std::uint32_t i = 1; i <= noted; ++i)
          if (const std::int64_t bin = carries_of(part)[i] - group * sums; bin >= 0 && bin < sums)
            atomicAdd(&sum[0][bin % each * add_columns + bin / each],
                      static_cast<unsigned long long>(carried_count));
      __syncthreads();
    }
    if (int(threadIdx.x) < sums) {
      const std::int64_t bin = group * sums + column * each + lane;
      unsigned long long total = 0;
#pragma unroll 8
      for (int l = 0; l < add_lanes; ++l) total += sum[l][threadIdx.x];
      if (bin < p.bins) counts[b * p.bins + bin] = std::int64_t(total);
    }
    __syncthreads();
  }
}

void launch(const A& a, Arena arena, Stream& s, int variant) {
  const Plan p(arena, a, variant);
  const cudaStream_t stream = cuda::native(s);
  auto* const counts = a.counts.as<std::int64_t>();
  const unsigned blocks = cuda::blocks(p.items(), 1);
  const auto add = [&]<bool Halves> {
    const std::int64_t groups = (p.words + 4 * add_columns - 1) / (4 * add_columns);
    cuda::launch_early(add_partials<Halves>, cuda::blocks(p.batch * groups, 1), add_block, 0, stream, p,
                       counts);
  };
  visit<double, float>(a.x.dtype, [&]<class T> {
    const Samples<T> samples{a.x.as<T>(), a.y.as<T>(), Bins(a.x_min, a.x_max, a.bins_x),
                             Bins(a.y_min, a.y_max, a.bins_y), a.outside == OutsidePolicy::clamp};
    if (variant == global) {
      cuda::launch_early(zero, cuda::blocks(a.counts.size(), 256), 256, 0, stream, counts, a.counts.size());
      cuda::launch_early(count_globally<T>, blocks, shapes[global].block, 0, stream, p, samples, counts);
      return;
    }
    if (variant == halves) {
      const std::size_t shared = std::size_t(p.words + 1 + most_carries) * sizeof(std::uint32_t);
      cuda::launch_early(count_halves<T>, blocks, shapes[halves].block, shared, stream, p, samples);
      return add.template operator()<true>();
    }
    cuda::select<global>(variant, [&]<int V> {
      const std::size_t shared = std::size_t(p.words * p.copies) * sizeof(std::uint32_t);
      cuda::launch_early(count<T, V>, blocks, shapes[V].block, shared, stream, p, samples, counts);
    });
    if (p.parts > 1) add.template operator()<false>();
  });
}

bool fits(const A& a, int variant) {
  const std::int64_t bins = a.bins_x * a.bins_y;
  return variant == global || bins <= (variant == halves ? most_halves : shared_words);
}
/// Of many bins 16-bit counts are less to add, unless each histogram is a block's own. Few samples are counted before the bins
/// of a block are added.
int preferred(const A& a) {
  const std::int64_t bins = a.bins_x * a.bins_y, n = a.x.extent[std::size_t(a.x.rank - 1)],
                     batch = a.counts.size() / bins;
  constexpr std::int64_t few = 2048;
  if (bins <= few || (bins <= shared_words && (batch >= multiprocessors || n < 4 * bins))) return 0;
  return bins <= most_halves && n >= 4 * bins ? halves : global;
}
void lay(Arena& arena, const A& a, const Site& site) { Plan(arena, a, site.row); }

}  // namespace

extern constinit const Impl<Histogram2dArgs> histogram_2d_cuda{
    {.rows = variants, .launch = launch, .lay = lay, .fits = fits, .preferred = preferred}};

}  // namespace kolmo
