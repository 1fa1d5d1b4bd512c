#pragma once
// Sums of long rows whose elements are read 16 bytes at once (base/sums.hpp).
#include <cstdint>
#include <type_traits>

#include "kolmo/base/pack.hpp"
#include "kolmo/device/reduce.cuh"

namespace kolmo::cuda {
namespace {

/// The lanes of a sum that one thread of a warp holds: of every 32 W neighbouring lanes thread t holds W,
/// from lane t W on.
template <int N>
struct WideLanes {
  static constexpr int count = sum_lanes / 32;
  Sums<N> lane[count] = {};

  /// Adds one term to each lane that the thread holds, the first of which is term `first`; load(i, terms)
  /// reads W terms.
  template <int W, class Load>
  __device__ void add(const Load& load, std::int64_t first) {
#pragma unroll
    for (int l = 0; l < count; l += W) {
      Sums<N> next[W];
      load(first + l * 32, next);
#pragma unroll
      for (int w = 0; w < W; ++w) lane[l + w] = lane[l + w] + next[w];
    }
  }

  /// Adds all lanes of the warp and returns the sum to its first thread.
  template <int W>
  __device__ Sums<N> tree(int thread) {
#pragma unroll
    for (int half = count / 2; half >= W; half /= 2)
#pragma unroll
      for (int l = 0; l < half; ++l) lane[l] = lane[l] + lane[l + half];
    return tree_of_wide<W>(lane, thread);
  }
};

/// Whether terms can be read without conversion, from their bits (ValueRows).
template <int W, int N, class Terms>
constexpr bool read_as_bits = requires(const Terms& terms, Sums<N> (&next)[W], std::uint32_t& special) {
  terms.row.load_bits(0, next, special);
};

/// Sums the terms of a whole chunk by a warp and returns the sum to its first thread. There is no branch
/// between the reads, so that 8 packs are in flight at once.
template <int W, int N, class Terms>
__device__ inline Sums<N> chunk_sum(const Terms& terms, int thread) {
  WideLanes<N> lanes;
  const auto add = [&](const auto& load) {
#pragma unroll(W)
    for (int first = 0; first < sum_chunk; first += sum_lanes)
      lanes.template add<W>(load, first + thread * W);
  };
  const auto load = [&](std::int64_t i, auto& next) { terms.load(i, next); };
  if constexpr (read_as_bits<W, N, Terms>) {
    std::uint32_t special = 0;
    add([&](std::int64_t i, auto& next) { terms.row.load_bits(terms.first + i, next, special); });
#pragma unroll
    for (auto& lane : lanes.lane) lane.value[0] *= decltype(terms.row)::Bits::unit;
    if (special) {  // then the sum is infinite or NaN too, whatever other lanes hold
      Sums<N> sum{};
#pragma unroll 1
      for (int i = thread * W; i < sum_chunk; i += 32 * W) {
        Sums<N> next[W];
        load(i, next);
#pragma unroll
        for (int w = 0; w < W; ++w) sum = sum + next[w];
      }
      lanes.lane[0] = sum;
    }
  } else {
    add(load);
  }
  return lanes.template tree<W>(thread);
}

/// Sums at most a chunk of terms by a warp, each thread of which reads W terms at once. The first thread gets
/// the sum.
template <int W, int N, class Terms>
__device__ inline Sums<N> wide_sum(const Terms& terms, int thread) {
  const std::int64_t n = terms.count;
  if (n == sum_chunk) return chunk_sum<W, N>(terms, thread);
  WideLanes<N> lanes;
  std::int64_t first = thread * W;
  const std::int64_t whole = n - n % sum_lanes;
#pragma unroll 1
  for (; first < whole; first += sum_lanes)
    lanes.template add<W>([&](std::int64_t i, auto& next) { terms.load(i, next); }, first);
#pragma unroll
  for (int l = 0; l < lanes.count; ++l)
    if (const std::int64_t i = first + l / W * 32 * W + l % W; i < n)
      lanes.lane[l] = lanes.lane[l] + terms(i);
  return lanes.template tree<W>(thread);
}

/// Sums the chunks of rows, one per warp; each thread reads W terms at once. With `whole`, each row has 2, 4
/// or 8 chunks, all of which one block sums and then adds.
template <int W, class Chunks>
__global__ void __launch_bounds__(sum_block, 3)
    sum_chunks_wide(EarlyStart early, Chunks chunks, std::int64_t items, bool whole) {
  const int thread = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32, warps = int(blockDim.x) / 32;
  __shared__ Sums<Chunks::sums> part[sum_block / 32];
  early.wait();
  for (std::int64_t first = std::int64_t(blockIdx.x) * warps; first < items;
       first += std::int64_t(gridDim.x) * warps) {
    const std::int64_t item = first + warp;
    Sums<Chunks::sums> sum{};
    if (item < items) sum = wide_sum<W, Chunks::sums>(chunks.terms(item), thread);
    if (!whole) {
      if (thread == 0 && item < items) chunks.finish(item, sum);
      continue;
    }
    const int each = int(chunks.chunks);
    __syncthreads();
    if (thread == 0) part[warp] = sum;
    for (int half = each / 2; half; half /= 2) {
      __syncthreads();
      if (thread == 0 && warp % each < half) part[warp] = part[warp] + part[warp + half];
    }
    if (thread == 0 && warp % each == 0 && item < items) chunks.done(quotient(item, each), part[warp]);
  }
}

constexpr int whole_rows_block = 128;

/// Sums rows of Each whole chunks (one or two) by a warp each, which needs no barriers.
template <int W, int Each, class Chunks>
__global__ void __launch_bounds__(whole_rows_block, 8)
    sum_whole_rows(EarlyStart early, Chunks chunks, std::int64_t rows) {
  constexpr int N = Chunks::sums, warps = whole_rows_block / 32;
  static_assert(Each == 1 || Each == 2);
  const int thread = int(threadIdx.x) % 32;
  early.wait();
  for (std::int64_t row = std::int64_t(blockIdx.x) * warps + threadIdx.x / 32; row < rows;
       row += std::int64_t(gridDim.x) * warps) {
    auto sum = chunk_sum<W, N>(chunks.terms(row * Each), thread);
    if constexpr (Each == 2) sum = sum + chunk_sum<W, N>(chunks.terms(row * 2 + 1), thread);
    if (thread == 0) chunks.done(row, sum);
  }
}

/// Sums rows of sum_lanes terms by a warp each. A multiprocessor holds more of these warps than of those that
/// sum chunks: on an H200 2^18 rows of 256 c64 took 123 us, and 156 us as chunks.
template <int W, int N, class Rows, class Done>
__global__ void __launch_bounds__(whole_rows_block, 8)
    sum_rows_of_lanes(EarlyStart early, Rows rows, Done done, std::int64_t count) {
  constexpr int warps = whole_rows_block / 32;
  const int thread = int(threadIdx.x) % 32;
  early.wait();
  for (std::int64_t row = std::int64_t(blockIdx.x) * warps + threadIdx.x / 32; row < count;
       row += std::int64_t(gridDim.x) * warps) {
    const auto terms = rows(row);
    WideLanes<N> lanes;
    lanes.template add<W>([&](std::int64_t i, auto& next) { terms.load(i, next); }, thread * W);
    const auto sum = lanes.template tree<W>(thread);
    if (thread == 0) done(row, sum);
  }
}
template <int W, int N, class Rows, class Done>
void launch_rows_of_lanes(const Rows& rows, const Done& done, std::int64_t count, Stream& s) {
  cuda::launch_early(sum_rows_of_lanes<W, N, Rows, Done>, blocks(count, whole_rows_block / 32),
                     whole_rows_block, 0, native(s), rows, done, count);
}

/// N sums over each of `count` rows of k elements, by threads that read W at once. For W > 1 the memory must
/// be aligned to W elements.
template <int W, int N, class Rows, class Done>
void wide_row_sums(const Rows& rows, const Done& done, std::int64_t count, std::int64_t k, Sums<N>* partial,
                   Stream& s) {
  using Chunks = ChunkSums<N, Rows, Done>;
  if constexpr (W > 1)
    if (are_short<W>(k)) return launch_short_rows<W, N>(rows, done, count, k, native(s));
  const std::int64_t chunks = sum_chunks(k);
  const Chunks all{rows, done, k, chunks, partial};
  constexpr std::int64_t many = 512;  // a GPU computes this many rows at once
  if constexpr (read_as_bits<W, N, typename Chunks::Terms>)
    if (count >= many && k == chunks * sum_chunk && chunks <= 2)
      return select<2>(int(chunks) - 1, [&]<int I> {
        cuda::launch_early(sum_whole_rows<W, I + 1, Chunks>, blocks(count, whole_rows_block / 32),
                           whole_rows_block, 0, native(s), all, count);
      });
  const bool whole = chunks == 2 || chunks == 4 || chunks == 8;
  const auto wide = [&] {
    const int warps = chunks == 8 ? 8 : 4;
    cuda::launch_early(sum_chunks_wide<W, Chunks>, blocks(count * chunks, warps), warps * 32, 0, native(s),
                       all, count * chunks, whole);
  };
  if (whole) return wide();
  sum_rows<N>(rows, done, count, k, partial,
              [&]<class Job>(const Job& job, std::int64_t items, std::int64_t terms) {
                if constexpr (!std::is_same_v<Job, Chunks>)
                  SumItems{native(s), sum_lanes}(job, items, terms);
                else if (terms > (W == 1 ? sum_lanes : short_terms))
                  wide();
                else
                  select<2>(sum_shape(terms, sum_lanes),
                            [&]<int V> { launch_items<sum_shapes[V]>(job, items, native(s)); });
              });
}

}  // namespace
}  // namespace kolmo::cuda
