#pragma once
// Runs the jobs of base/sums.hpp in kernels. Anonymous namespace: see device/grid.cuh.
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "kolmo/base/pack.hpp"
#include "kolmo/base/sums.hpp"
#include "kolmo/device/grid.cuh"
#include "kolmo/device/short_sums.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo::cuda {
namespace {

/// How a block of 256 threads is divided among sums: `threads` threads compute one sum, and each holds
/// `lanes` lanes of it. Shapes with fewer than sum_lanes lanes in all are limited to that many terms.
struct SumShape {
  int threads, lanes;
  constexpr int width() const { return threads * lanes; }
};
constexpr SumShape sum_shapes[] = {{8, 4}, {32, 8}, {256, 1}};
/// Those for the sums of chunks, of which most rows have few; of many see sum_partials.
constexpr SumShape partial_shapes[] = {{1, 8}, {32, 8}};

/// Index into sum_shapes for sums of `terms` terms; a whole block computes sums of more than `block_above`
/// terms.
constexpr int sum_shape(std::int64_t terms, std::int64_t block_above) {
  return terms > block_above ? 2 : terms > sum_shapes[0].width() ? 1 : 0;
}
/// Sums that a group of threads computes, one after the other.
template <int Threads>
constexpr int sum_items_each = Threads < 32 ? Threads : 1;

/// The sum of a group of threads, returned to its first thread. Every thread of the block must call it.
template <int Threads, int Lanes, int N, class Terms>
__device__ inline Sums<N> group_sum(const Terms& terms, std::int64_t n, int thread) {
  static_assert(Threads <= 32 || Threads * Lanes == sum_lanes);
  Sums<N> lane[Lanes] = {};
  if constexpr (requires { terms.fetch(n); }) {
    constexpr int ahead = Lanes < 4 ? 8 : Lanes;
    for (std::int64_t first = thread; first < n; first += Threads * ahead) {
      decltype(terms.fetch(n)) next[ahead];  // reads without a branch are all in flight at once
#pragma unroll
      for (int a = 0; a < ahead; ++a)
        next[a] = terms.fetch(first + (first + a * Threads < n ? a * Threads : 0));
      with_terms<ahead>(
          terms, [&](int a) { return next[a]; },
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

/// Sum of terms(0) ... terms(n - 1) by a warp, which reads W terms per thread at once; the first thread gets
/// the result. Of every 32 W neighbouring lanes, thread t holds W, from lane t W on.
template <int W, int N, class Terms>
__device__ inline Sums<N> wide_sum(const Terms& terms, std::int64_t n, int thread) {
  constexpr int groups = sum_lanes / (32 * W);
  Sums<N> lane[groups * W] = {};
  std::int64_t first = thread * W;
  const std::int64_t whole = n - n % sum_lanes;
#pragma unroll(W < 4 ? W : 4)
  for (; first < whole; first += sum_lanes)
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      Sums<N> next[W];
      terms.load(first + g * 32 * W, next);
#pragma unroll
      for (int w = 0; w < W; ++w) lane[g * W + w] = lane[g * W + w] + next[w];
    }
#pragma unroll
  for (int a = 0; a < groups * W; ++a)
    if (const std::int64_t i = first + a / W * 32 * W + a % W; i < n) lane[a] = lane[a] + terms(i);
#pragma unroll
  for (int half = groups / 2; half; half /= 2)
#pragma unroll
    for (int a = 0; a < half * W; ++a) lane[a] = lane[a] + lane[a + half * W];
  return tree_of_wide<W>(lane, thread);
}

/// Computes the chunks of rows, one per warp; each thread reads W terms at once. With `whole`, a block has all chunks of
/// its rows, 2, 4 or 8 each, and adds their sums too.
template <int W, int Block, class Chunks>
__global__ void __launch_bounds__(Block, 4)
    sum_chunks_wide(EarlyStart early, Chunks chunks, std::int64_t items, bool whole) {
  constexpr int warps = Block / 32;
  const int thread = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  __shared__ Sums<Chunks::sums> part[warps];
  early.wait();
  for (std::int64_t first = std::int64_t(blockIdx.x) * warps; first < items;
       first += std::int64_t(gridDim.x) * warps) {
    const std::int64_t item = first + warp;
    Sums<Chunks::sums> sum{};
    if (item < items) sum = wide_sum<W, Chunks::sums>(chunks.terms(item), chunks.length(item), thread);
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

/// A block adds the sums of all chunks of a row, which more threads read than add.
constexpr int partials_block = 1024;
template <int N>
constexpr int partials_each = 12 / N;  // that a thread reads at once
template <class Partials>
__global__ void __launch_bounds__(partials_block)
    sum_partials(EarlyStart early, Partials partials, std::int64_t rows) {
  constexpr int N = Partials::sums, each = partials_each<N>, together = partials_block * each;
  Sums<N>* const held = cuda::dynamic_shared<Sums<N>>();
  const int thread = int(threadIdx.x);
  early.wait();
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const auto terms = partials.terms(row);
    Sums<N> lane{};
    for (std::int64_t first = 0; first < partials.chunks; first += together) {
      const std::int64_t rest = partials.chunks - first;
      const int here = int(rest < together ? rest : together);
      Sums<N> next[each];  // loads without a branch are all in flight at once
#pragma unroll
      for (int i = 0; i < each; ++i) {
        const int at = thread + i * partials_block;
        next[i] = terms(first + (at < here ? at : 0));
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < each; ++i)
        if (const int at = thread + i * partials_block; at < here) held[at] = next[i];
      __syncthreads();
      if (thread < sum_lanes)
        for (int at = thread; at < here; at += sum_lanes) lane = lane + held[at];
    }
    __syncthreads();
    if (thread < sum_lanes) held[thread] = lane;
    __syncthreads();
    if (thread < 32) {
      Sums<N> of_warp[sum_lanes / 32];
#pragma unroll
      for (int a = 0; a < sum_lanes / 32; ++a) of_warp[a] = held[thread + a * 32];
      const auto sum = tree<32>(of_warp);
      if (thread == 0) partials.finish(row, sum);
    }
  }
}

/// A block sums a row, one chunk after the other: the naive variant.
template <class Chunks, class Partials>
__global__ void __launch_bounds__(sum_block)
    sum_rows_simply(EarlyStart early, Chunks chunks, Partials partials, std::int64_t rows) {
  early.wait();
  const int thread = int(threadIdx.x);
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    for (std::int64_t item = row * chunks.chunks; item < (row + 1) * chunks.chunks; ++item) {
      const auto sum = group_sum<sum_block, 1, Chunks::sums>(chunks.terms(item), chunks.length(item), thread);
      if (thread == 0) chunks.finish(item, sum);
    }
    if (chunks.chunks == 1) continue;
    __syncthreads();
    const auto sum = group_sum<sum_block, 1, Chunks::sums>(partials.terms(row), chunks.chunks, thread);
    if (thread == 0) partials.finish(row, sum);
  }
}

/// Computes the items of a job in a shape, with blocks of sum_block threads. Threads of a group that is
/// smaller than a warp finish an item each.
template <int Threads, int Lanes, class Job>
__global__ void __launch_bounds__(sum_block) sum_items(EarlyStart early, Job job, std::int64_t items) {
  early.wait();
  constexpr int groups = sum_block / Threads, each = sum_items_each<Threads>;
  const int thread = int(threadIdx.x) % Threads, group = int(threadIdx.x) / Threads;
  for (std::int64_t first = std::int64_t(blockIdx.x) * groups * each; first < items;
       first += std::int64_t(gridDim.x) * groups * each) {
    Sums<Job::sums> own{};
#pragma unroll 1
    for (int j = 0; j < each; ++j) {
      const std::int64_t at = first + j * groups + group, item = at < items ? at : first;
      const auto sum =  // idle groups take part in shuffles and barriers
          group_sum<Threads, Lanes, Job::sums>(job.terms(item), at < items ? job.length(item) : 0, thread);
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

/// The `run` argument of sum_rows and sum_tables (base/entropy.hpp): launches a job. A whole block computes sums of more than
/// `block_above` terms. Short rows that rows.packed() says are aligned are read 16 bytes at once, columns in pieces by a thread
/// each.
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
    if constexpr (are_partials<Job>) {
      if (terms > block_above)
        cuda::launch_early(sum_partials<Job>, blocks(items, 1), partials_block,
                           sizeof(Sums<Job::sums>) * partials_block * partials_each<Job::sums>, stream, job,
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

/// How rows are summed. wide: each thread reads 16 bytes at once if memory is aligned to that. items: by
/// SumItems. simple: by sum_rows_simply.
enum class SumMethod { wide, items, simple };
struct SumPlan {
  SumMethod method;
  int block = sum_block;
  std::int64_t block_above = 256;
};

template <SumPlan Plan, int W, int N, class Rows, class Done>
void sum_rows_by(const Rows& rows, const Done& done, std::int64_t count, std::int64_t k, Sums<N>* partial,
                 Stream& s) {
  using Chunks = ChunkSums<N, Rows, Done>;
  using Partials = PartialSums<N, Done>;
  if constexpr (Plan.method == SumMethod::simple) {
    cuda::launch_early(sum_rows_simply<Chunks, Partials>, blocks(count, 1), sum_block, 0, native(s),
                       Chunks{rows, done, k, sum_chunks(k), partial}, Partials{partial, done, sum_chunks(k)},
                       count);
  } else {
    if constexpr (Plan.method == SumMethod::wide && W > 1)
      if (are_short<W>(k)) return launch_short_rows<W, N>(rows, done, count, k, native(s));
    constexpr int warps = Plan.block / 32;
    const std::int64_t chunks = sum_chunks(k);
    const auto wide = [&](const Chunks& job, bool whole) {
      cuda::launch_early(sum_chunks_wide<W, Plan.block, Chunks>, blocks(count * chunks, warps), Plan.block, 0,
                         native(s), job, count * chunks, whole);
    };
    if constexpr (Plan.method == SumMethod::wide)
      if (chunks > 1 && warps % chunks == 0) return wide(Chunks{rows, done, k, chunks, partial}, true);
    sum_rows<N>(rows, done, count, k, partial,
                [&]<class Job>(const Job& job, std::int64_t items, std::int64_t terms) {
                  if constexpr (Plan.method == SumMethod::wide && std::is_same_v<Job, Chunks>)
                    if (terms > short_terms) return wide(job, false);
                  SumItems{native(s), Plan.block_above}(job, items, terms);
                });
  }
}

/// N sums over each of `count` rows of k elements of T; `packed` is the result of packed_rows.
template <SumPlan Plan, class T, int N, class Rows, class Done>
void sum_rows_by(bool packed, const Rows& rows, const Done& done, std::int64_t count, std::int64_t k,
                 Sums<N>* partial, Stream& s) {
  if (packed)
    sum_rows_by<Plan, pack_width<T>, N>(rows, done, count, k, partial, s);
  else
    sum_rows_by<Plan, 1, N>(rows, done, count, k, partial, s);
}

}  // namespace
}  // namespace kolmo::cuda
