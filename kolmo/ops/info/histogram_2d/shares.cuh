#pragma once
// The shares of a histogram's samples, and the sums of their counts. Anonymous namespace: see device/grid.cuh.
#include <cstdint>
#include <type_traits>

#include "kolmo/base/arena.hpp"
#include "kolmo/base/pack.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/device/read_once.cuh"
#include "kolmo/ops/info/histogram_2d/histogram_2d.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

/// Blocks have equal shares of the samples of a histogram: as many as run at a time on an H200, but of `least` samples.
struct Shape {
  int block, residents;
  std::int64_t most_blocks, least;
};
constexpr std::int64_t multiprocessors = 132;
constexpr Shape shapes[] = {{256, 4, 4 * multiprocessors, 2048},
                            {512, 2, 2 * multiprocessors, 4096},
                            {256, 2, 1 << 20, 1024},
                            {1024, 1, multiprocessors, 8192},
                            {1024, 1, multiprocessors, 8192}};
constexpr int global = 2, halves = 3, bytes = 4;  // the rows that count in global memory, in 16 bits, in 8
constexpr std::int64_t shared_words = 12 * 1024, most_small = 96 * 1024;  // 48 KiB, 192 KiB of 16-bit counts

constexpr int bits_of(int variant) { return variant == halves ? 16 : variant == bytes ? 8 : 32; }
/// A small count that wraps is noted, so often at most in a share. A wrap takes 2^bits additions, of samples or of the wrap of
/// the count before it: n samples make no more than n / (2^bits - 1) wraps.
constexpr int most_notes_of(int variant) { return variant == halves ? 64 : variant == bytes ? 1024 : 0; }
constexpr std::int64_t longest_of(int variant) {
  const std::int64_t notes = most_notes_of(variant);
  return notes > 0 ? notes * ((1 << bits_of(variant)) - 1) : 1 << 30;
}
/// Notes that a thread reads at once; after the last there are others of no bin.
constexpr int notes_read = 8;
/// Of these samples a histogram has no more shares than add_bytes can add.
constexpr std::int64_t most_of_bytes = multiprocessors * (longest_of(bytes) - 32);

/// The shares, and the counts of each, which are added in the end if a histogram has several.
struct Plan {
  std::int64_t batch, n, bins, parts, length;
  std::int64_t words;      ///< of the counts of a share, a multiple of 4
  int copies;              ///< of 32-bit counts: lanes that differ by no multiple of it never meet in one
  int most_notes;          ///< of a share
  std::uint32_t* partial;  ///< counts of each share
  std::uint32_t* noted;    ///< how many counts of each share wrapped
  std::uint32_t* notes;    ///< which

  Plan(Arena& arena, const Histogram2dArgs& a, int variant)
      : batch(a.counts.size() / (a.bins_x * a.bins_y)),
        n(a.x.extent[std::size_t(a.x.rank - 1)]),
        bins(a.bins_x * a.bins_y),
        most_notes(most_notes_of(variant)) {
    const auto quotient_up = [](std::int64_t p, std::int64_t q) { return (p + q - 1) / q; };
    const auto at_least = [](std::int64_t p, std::int64_t q) { return p < q ? q : p; };
    const Shape& shape = shapes[variant];
    const bool small = variant >= halves, own = variant != global;
    const std::int64_t least = at_least(shape.least, own ? (small ? 1 : 4) * bins : 0), most = n / least,
                       wanted = shape.most_blocks / at_least(batch, 1);
    parts = at_least(at_least(most < wanted ? most : wanted, 1), quotient_up(n, longest_of(variant) - 32));
    length = quotient_up(quotient_up(n, parts), 32) * 32;  // so that shares begin at multiples of 16 bytes
    parts = at_least(quotient_up(n, at_least(length, 1)), 1);
    words = quotient_up(bins * bits_of(variant), 128) * 4;
    copies = 1;
    while (copies < 32 && 2 * copies * bins <= shared_words && 2 * copies * bins <= length / 8) copies *= 2;
    partial = arena.take<std::uint32_t>(small || (own && parts > 1) ? batch * parts * words : 0);
    noted = arena.take<std::uint32_t>(small ? batch * parts : 0);
    notes = arena.take<std::uint32_t>(batch * parts * most_notes);
  }
  KOLMO_HD std::int64_t items() const { return batch * parts; }
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

/// The wraps of a share's counts among `bins` bins from `first` on: add(bin - first, what they are short of). Those of a word's
/// bins are all or none of them.
template <int Bits, class Add>
__device__ void each_wrap(const Plan& p, std::int64_t share, int noted, std::int64_t first, int bins,
                          const Add& add) {
  constexpr int each = 32 / Bits;
  for (int i = 0; i < noted; i += notes_read) {
    const auto some = load_pack<notes_read>(p.notes + share * p.most_notes + i);
#pragma unroll
    for (const std::uint32_t note : some.value) {
      const std::int64_t bin = note - first;
      if (bin < 0 || bin >= bins) continue;
      add(int(bin), 1 << Bits);
      if (note % each != each - 1) add(int(bin) + 1, -1);
    }
  }
}

/// Blocks of the sums of a histogram, which add so many columns of 16 bytes.
KOLMO_HD std::int64_t groups_of(const Plan& p, int columns) {
  return (p.words + 4 * columns - 1) / (4 * columns);
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
  const std::int64_t groups = groups_of(p, add_columns);
  early.wait();
  for (std::int64_t item = blockIdx.x; item < p.batch * groups; item += gridDim.x) {
    const std::int64_t b = quotient(item, groups), group = item - b * groups,
                       word = 4 * (group * add_columns + column);
    const std::uint32_t* const from = p.partial + b * p.parts * p.words + word;
    const auto noted_of = [&](std::int64_t part) {
      return part < p.parts ? int(p.noted[b * p.parts + part]) : 0;
    };
    int noted = 0;
    if constexpr (Halves) noted = noted_of(threadIdx.x);
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
      for (std::int64_t part = threadIdx.x; part < p.parts; part += add_block, noted = noted_of(part))
        each_wrap<16>(p, b * p.parts + part, noted, group * sums, sums, [&](int bin, int more) {
          atomicAdd(&sum[0][bin % each * add_columns + bin / each],
                    static_cast<unsigned long long>(std::int64_t(more)));
        });
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

/// The same of 8-bit counts, of which up to 257 shares are added two in a word.
constexpr int byte_block = 192, byte_columns = 4, byte_lanes = byte_block / byte_columns;
__global__ void __launch_bounds__(byte_block, 8)
    add_bytes(cuda::EarlyStart early, Plan p, std::int64_t* counts) {
  constexpr int together = 3, pairs = 8, bins = 16 * byte_columns, warps = byte_block / 32;
  static_assert(together * byte_lanes >= multiprocessors && multiprocessors <= 257 &&
                byte_block >= multiprocessors);
  __shared__ __align__(16) std::uint32_t sum[warps][byte_columns * pairs];
  __shared__ __align__(16) int wrapped[bins];
  const int column = int(threadIdx.x) % byte_columns, lane = int(threadIdx.x) / byte_columns,
            parts = int(p.parts);
  const std::int64_t groups = groups_of(p, byte_columns);
  early.wait();
  for (std::int64_t item = blockIdx.x; item < p.batch * groups; item += gridDim.x) {
    const std::int64_t b = quotient(item, groups), group = item - b * groups, share = b * parts,
                       word = 4 * (group * byte_columns + column);
    const std::uint32_t* const from = p.partial + (share + lane) * p.words + word;
    Pack<std::uint32_t, 4> some[together];
#pragma unroll
    for (int j = 0; j < together; ++j) {
      some[j] = {};
      if (lane + j * byte_lanes < parts && word < p.words)
        some[j] = cuda::read_once<4>(from + j * byte_lanes * p.words);
    }
    const int noted = int(threadIdx.x) < parts ? int(p.noted[share + threadIdx.x]) : 0;
    if (int(threadIdx.x) < bins) wrapped[threadIdx.x] = 0;
    std::uint32_t own[pairs] = {};  // bytes 0 and 2 of a word, then 1 and 3
#pragma unroll
    for (int j = 0; j < together; ++j)
#pragma unroll
      for (int e = 0; e < pairs; ++e) own[e] += some[j].value[e / 2] >> e % 2 * 8 & 0xff00ff;
#pragma unroll
    for (int e = 0; e < pairs; ++e)
#pragma unroll
      for (int other = byte_columns; other < 32; other *= 2) own[e] += __shfl_xor_sync(~0u, own[e], other);
    if (int(threadIdx.x) % 32 < byte_columns)
#pragma unroll
      for (int e = 0; e < pairs; ++e) sum[threadIdx.x / 32][column * pairs + e] = own[e];
    if (__syncthreads_or(noted)) {
      each_wrap<8>(p, share + threadIdx.x, noted, group * bins, bins,
                   [&](int bin, int more) { atomicAdd(wrapped + bin, more); });
      __syncthreads();
    }
    if (const std::int64_t bin = group * bins + threadIdx.x; int(threadIdx.x) < bins && bin < p.bins) {
      const int own_bin = int(threadIdx.x), pair = own_bin / 4 * 2 + own_bin % 2;
      std::uint32_t total = 0;
#pragma unroll
      for (int w = 0; w < warps; ++w) total += sum[w][pair];
      counts[b * p.bins + bin] = wrapped[own_bin] + int(total >> own_bin / 2 % 2 * 16 & 0xffff);
    }
    __syncthreads();
  }
}

}  // namespace
}  // namespace kolmo
