#pragma once
// Runs the jobs of base/sums.hpp in kernels.
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include "kolmo/base/pack.hpp"
#include "kolmo/base/sums.hpp"
#include "kolmo/device/grid.cuh"
#include "kolmo/device/short_sums.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo::cuda {
namespace {

/// How a block of 256 threads is divided among sums: `threads` threads compute one sum, and each holds
/// `lanes` lanes of it. A shape with fewer than sum_lanes lanes in all can sum at most that many terms.
struct SumShape {
  int threads, lanes;
  constexpr int width() const { return threads * lanes; }
};
constexpr SumShape sum_shapes[] = {{8, 4}, {32, 8}, {256, 1}};
/// The shapes for adding the sums of the chunks of a row. Most rows have few chunks; sum_partials adds those
/// of rows with many.
constexpr SumShape partial_shapes[] = {{1, 8}, {32, 8}};

/// Index into sum_shapes for sums of `terms` terms. Sums of more than `block_above` terms are computed by a
/// whole block.
constexpr int sum_shape(std::int64_t terms, std::int64_t block_above) {
  return terms > block_above ? 2 : terms > sum_shapes[0].width() ? 1 : 0;
}
/// How many sums a group of threads computes, one after the other.
template <int Threads>
constexpr int sum_items_each = Threads < 32 ? Threads : 1;

/// Computes one lane of a whole chunk, which has sum_chunk terms. All reads are in flight at once; large
/// terms are computed in two halves, to save registers.
template <int N, class Terms>
__device__ inline Sums<N> lane_of_chunk(const Terms& terms, int thread) {
  using Fetched = decltype(terms.fetch(0));
  constexpr int all = int(sum_chunk) / sum_block, each = sizeof(Fetched) <= 8 ? all : all / 2;
  Fetched next[all];
#pragma unroll
  for (int a = 0; a < all; ++a) next[a] = terms.fetch(std::int64_t(thread) + a * sum_block);
  Sums<N> lane{};
#pragma unroll
  for (int from = 0; from < all; from += each) {
    const auto at = [&](int a) { return next[from + a]; };
    if constexpr (requires { terms.row.template plain_sum<all>(at); }) {
      static_assert(each == all);
      if (terms.row.template are_plain<all>(at)) return terms.row.template plain_sum<all>(at);
    }
    with_terms<each>(terms.row, at, [&](auto term_of) {
#pragma unroll
      for (int a = 0; a < each; ++a) lane = lane + term_of(at(a));
    });
  }
  return lane;
}

/// Sums the terms by a group of threads and returns the sum to the group's first thread. A group that is not
/// active sums no terms. Every thread of the block must call it.
template <int Threads, int Lanes, int N, class Terms>
__device__ inline Sums<N> group_sum(const Terms& terms, bool active, int thread) {
  static_assert(Threads <= 32 || Threads * Lanes == sum_lanes);
  const std::int64_t n = active ? terms.count : 0;
  Sums<N> lane[Lanes] = {};
  if constexpr (requires { terms.fetch(n); }) {
    if constexpr (Threads == sum_block)
      if (n == sum_chunk) return tree_of_block(lane_of_chunk<N>(terms, thread), thread);
    constexpr int ahead = Lanes < 4 ? 8 : Lanes;
    for (std::int64_t first = thread; first < n; first += Threads * ahead) {
      decltype(terms.fetch(n)) next[ahead];  // reads without a branch between them are all in flight at once
#pragma unroll
      for (int a = 0; a < ahead; ++a)
        next[a] = terms.fetch(first + (first + a * Threads < n ? a * Threads : 0));
      with_terms<ahead>(
          terms.row, [&](int a) { return next[a]; },
          [&](auto term_of) {
#pragma unroll
            for (int a = 0; a < ahead; ++a)
              if (first + a * Threads < n) lane[a % Lanes] = lane[a % Lanes] + term_of(next[a]);
          });
    }
  } else {
    for (std::int64_t first = thread; first < n; first += Threads * Lanes)
#pragma unroll
      for (int a = 0; a < Lanes; ++a)
        if (first + a * Threads < n) lane[a] = lane[a] + terms(first + a * Threads);
  }
  if constexpr (Threads <= 32) {
    return tree<Threads>(lane);
  } else {
    static_assert(Lanes == 1);
    return tree_of_block(lane[0], thread);
  }
}

/// Adds the sums of all chunks of a row by a block. Each thread adds one of the N sums of one lane, with many
/// reads in flight. (The launch bound of one block makes ptxas use enough registers for them.)
template <int N>
constexpr int partials_block = N* sum_lanes;
template <class Partials>
__global__ void __launch_bounds__(partials_block<Partials::sums>, 1)
    sum_partials(EarlyStart early, Partials partials, std::int64_t rows) {
  constexpr int N = Partials::sums, step = partials_block<N>, together = 16;
  __shared__ double held[step];
  const int own = int(threadIdx.x);
  early.wait();
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const double* const from = partials.terms(row).partial->value;
    const std::int64_t all = partials.chunks * N;
    double sum = 0;
    std::int64_t i = own;
    for (; i + (together - 1) * step < all; i += together * step) {
      double next[together];
#pragma unroll
      for (int j = 0; j < together; ++j) next[j] = from[i + j * step];
#pragma unroll
      for (int j = 0; j < together; ++j) sum = exact_add(sum, next[j]);
    }
#pragma unroll 4
    for (; i < all; i += step) sum = exact_add(sum, from[i]);
    held[own] = sum;
    __syncthreads();
    if (own < 32) {
      Sums<N> of_warp[sum_lanes / 32];
#pragma unroll
      for (int a = 0; a < sum_lanes / 32; ++a)
#pragma unroll
        for (int j = 0; j < N; ++j) of_warp[a].value[j] = held[(own + a * 32) * N + j];
      const auto of_row = tree<32>(of_warp);
      if (own == 0) partials.finish(row, of_row);
    }
    __syncthreads();
  }
}

/// Number of blocks that a multiprocessor should hold at once. The fewer there are, the more registers each
/// thread has for what it fetches of a chunk.
template <int Threads, class Job>
constexpr int block_residents() {
  if constexpr (Threads == sum_block && requires(const Job& job) { job.terms(0).fetch(0); }) {
    constexpr std::size_t bytes = sizeof(std::declval<Job>().terms(0).fetch(0));
    return bytes <= 8 ? 4 : bytes <= 16 ? 3 : 1;
  }
  return 1;
}

/// Computes the items of a job in a shape, with blocks of sum_block threads. In groups smaller than a warp
/// each thread finishes one item; in larger ones the first thread finishes it.
template <int Threads, int Lanes, class Job>
__global__ void __launch_bounds__(sum_block, block_residents<Threads, Job>())
    sum_items(EarlyStart early, Job job, std::int64_t items) {
  early.wait();
  constexpr int groups = sum_block / Threads, each = sum_items_each<Threads>;
  const int thread = int(threadIdx.x) % Threads, group = int(threadIdx.x) / Threads;
  for (std::int64_t first = std::int64_t(blockIdx.x) * groups * each; first < items;
       first += std::int64_t(gridDim.x) * groups * each) {
    Sums<Job::sums> own{};
#pragma unroll 1
    for (int j = 0; j < each; ++j) {
      const std::int64_t at = first + j * groups + group, item = at < items ? at : first;
      const auto sum =  // groups without an item take part in shuffles and barriers
          group_sum<Threads, Lanes, Job::sums>(job.terms(item), at < items, thread);
      if (thread == j) own = sum;
    }
    const std::int64_t item = first + thread * groups + group;
    if (thread < each && item < items) job.finish(item, own);
  }
}

template <SumShape S, class Job>
void launch_items(const Job& job, std::int64_t items, cudaStream_t stream) {
  cuda::launch_early(sum_items<S.threads, S.lanes, Job>,
                     blocks(items, sum_block / S.threads * sum_items_each<S.threads>), sum_block, 0, stream,
                     job, items);
}

template <class Job>
inline constexpr bool are_partials = false;
template <int N, class Done>
inline constexpr bool are_partials<PartialSums<N, Done>> = true;

/// The `run` argument of sum_rows and sum_tables (base/table_sums.hpp): launches a job. A whole block
/// computes each sum of more than `block_above` terms. Short rows are read 16 bytes at once if rows.packed()
/// says that they are aligned. Columns are cut into pieces, each summed by one thread.
struct SumItems {
  cudaStream_t stream;
  std::int64_t block_above;
  template <class Job>
  void operator()(const Job& job, std::int64_t items, std::int64_t terms) const {
    if constexpr (requires { job.rows.rows_at_a_time; })
      launch_column_sums<Job::sums>(job.rows, job.done, items, stream);
    else
      others(job, items, terms);
  }

 private:
  template <class Job>
  void others(const Job& job, std::int64_t items, std::int64_t terms) const {
    if constexpr (requires { job.rows.packed(items); }) {
      constexpr int width = pack_width<typename decltype(job.rows)::Element>;
      if (job.chunks == 1 && are_short<width>(terms) && job.rows.packed(items))
        return launch_short_rows<width, Job::sums>(job.rows, job.done, items, terms, stream);
    }
    // Only tables have so many sums; their rows are few and of few chunks.
    if constexpr (are_partials<Job> && Job::sums > 4) {
      launch_items<partial_shapes[1]>(job, items, stream);
    } else if constexpr (are_partials<Job>) {
      if (terms > block_above)
        cuda::launch_early(sum_partials<Job>, blocks(items, 1), partials_block<Job::sums>, 0, stream, job,
                           items);
      else
        select<std::size(partial_shapes)>(terms > partial_shapes[0].width(), [&]<int V> {
          launch_items<partial_shapes[V]>(job, items, stream);
        });
    } else {
      select<std::size(sum_shapes)>(sum_shape(terms, block_above),
                                    [&]<int V> { launch_items<sum_shapes[V]>(job, items, stream); });
    }
  }
};

}  // namespace
}  // namespace kolmo::cuda
