#pragma once
// Runs the jobs of base/sums.hpp in kernels. Anonymous namespace: see device/grid.cuh.
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "kolmo/base/pack.hpp"
#include "kolmo/base/sums.hpp"
#include "kolmo/device/grid.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo::cuda {
namespace {

/// How a block of 256 threads shares out sums: `threads` together take one sum, each holds `lanes` lanes of
/// it. Shapes of fewer than sum_lanes lanes can only take that many terms.
struct SumShape {
  int threads, lanes;
  constexpr int width() const { return threads * lanes; }
};
constexpr SumShape sum_shapes[] = {{8, 4}, {32, 8}, {256, 1}};
constexpr int sum_block = 256;

/// The row of sum_shapes for sums of `terms` terms; a block takes those of more than `block_above`.
constexpr int sum_shape(std::int64_t terms, std::int64_t block_above) {
  return terms > block_above ? 2 : terms > sum_shapes[0].width() ? 1 : 0;
}
template <int Shape>
unsigned sum_blocks(std::int64_t items) {
  return blocks(items, sum_block / sum_shapes[Shape].threads);
}

template <int N>
__device__ inline Sums<N> shuffle_xor(const Sums<N>& s, int mask) {
  Sums<N> other;
#pragma unroll
  for (int i = 0; i < N; ++i) other.value[i] = __shfl_xor_sync(~0u, s.value[i], mask);
  return other;
}

/// Adds lanes t, t + Threads, ... of each thread, then across Threads (at most a warp) threads.
template <int Threads, int Lanes, int N>
__device__ inline Sums<N> tree(Sums<N> (&lane)[Lanes]) {
#pragma unroll
  for (int half = Lanes / 2; half; half /= 2)
#pragma unroll
    for (int a = 0; a < half; ++a) lane[a] = lane[a] + lane[a + half];
  Sums<N> sum = lane[0];
#pragma unroll
  for (int half = Threads / 2; half; half /= 2) sum = sum + shuffle_xor(sum, half);
  return sum;
}

/// Every thread of the block must call it; the group's first thread gets the sum.
template <int Threads, int Lanes, int N, class Terms>
__device__ inline Sums<N> group_sum(const Terms& terms, std::int64_t n, int thread) {
  static_assert(Threads <= 32 || Threads * Lanes == sum_lanes);
  Sums<N> lane[Lanes] = {};
  for (std::int64_t first = thread; first < n; first += Threads * Lanes)
#pragma unroll
    for (int a = 0; a < Lanes; ++a)
      if (first + a * Threads < n) lane[a] = lane[a] + terms(first + a * Threads);
  if constexpr (Threads <= 32) {
    return tree<Threads>(lane);
  } else {
    static_assert(Lanes == 1 && Threads == sum_block);
    __shared__ double part[N][sum_lanes];
    __syncthreads();  // the first warp may still read the sums before these
#pragma unroll
    for (int i = 0; i < N; ++i) part[i][thread] = lane[0].value[i];
    __syncthreads();
    if (thread >= 32) return {};
    Sums<N> of_warp[sum_lanes / 32];
#pragma unroll
    for (int a = 0; a < sum_lanes / 32; ++a)
#pragma unroll
      for (int i = 0; i < N; ++i) of_warp[a].value[i] = part[i][thread + a * 32];
    return tree<32>(of_warp);
  }
}

/// Sum of terms(0) ... terms(n - 1) by a warp, which reads W of them at once; the first thread gets it.
/// Thread t holds, of each 32 W neighbouring lanes, those from t W on.
template <int W, int N, class Terms>
__device__ inline Sums<N> wide_sum(const Terms& terms, std::int64_t n, int thread) {
  constexpr int groups = sum_lanes / (32 * W);
  Sums<N> lane[groups * W] = {};
  std::int64_t first = thread * W;
  const std::int64_t whole = n - n % sum_lanes;
#pragma unroll W
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
#pragma unroll
  for (int half = 16; half; half /= 2)
#pragma unroll
    for (int w = 0; w < W; ++w) lane[w] = lane[w] + shuffle_xor(lane[w], half);
#pragma unroll
  for (int half = W / 2; half; half /= 2)
#pragma unroll
    for (int w = 0; w < half; ++w) lane[w] = lane[w] + lane[w + half];
  return lane[0];
}

/// The items of a job, one per warp, read W terms at once.
template <int W, int Block, class Job>
__global__ void __launch_bounds__(Block) sum_items_wide(Job job, std::int64_t items) {
  constexpr int warps = Block / 32;
  const int thread = int(threadIdx.x) % 32;
  for (std::int64_t item = std::int64_t(blockIdx.x) * warps + threadIdx.x / 32; item < items;
       item += std::int64_t(gridDim.x) * warps) {
    const auto sum = wide_sum<W, Job::sums>(job.terms(item), job.length(item), thread);
    if (thread == 0) job.finish(item, sum);
  }
}

/// A block takes a row, one chunk after the other: the simple way.
template <class Chunks, class Partials>
__global__ void __launch_bounds__(sum_block)
    sum_rows_simply(Chunks chunks, Partials partials, std::int64_t rows) {
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

/// The items of a job, in shape sum_shapes[Shape]; blocks of sum_block threads.
template <int Shape, class Job>
__global__ void __launch_bounds__(sum_block) sum_items(Job job, std::int64_t items) {
  constexpr int threads = sum_shapes[Shape].threads, lanes = sum_shapes[Shape].lanes,
                groups = sum_block / threads;
  const int thread = int(threadIdx.x) % threads, group = int(threadIdx.x) / threads;
  for (std::int64_t first = std::int64_t(blockIdx.x) * groups; first < items;
       first += std::int64_t(gridDim.x) * groups) {
    const bool active = first + group < items;  // idle groups take part in shuffles and barriers
    const std::int64_t item = active ? first + group : first;
    const auto sum =
        group_sum<threads, lanes, Job::sums>(job.terms(item), active ? job.length(item) : 0, thread);
    if (active && thread == 0) job.finish(item, sum);
  }
}

/// What sum_rows and sum_tables (base/entropy.hpp) start a job with: a block takes sums of more than
/// sum_block_above[variant] terms.
constexpr std::int64_t sum_block_above[] = {1024, 256, sum_chunk};
struct SumItems {
  cudaStream_t stream;
  int variant;
  template <class Job>
  void operator()(const Job& job, std::int64_t items, std::int64_t terms) const {
    select<std::size(sum_shapes)>(sum_shape(terms, sum_block_above[variant]), [&]<int V> {
      cuda::launch(sum_items<V, Job>, sum_blocks<V>(items), sum_block, 0, stream, job, items);
    });
  }
};

/// How rows are summed: by warps of a block that read 16 bytes at once where memory is aligned to that, by
/// SumItems, or in the simple way.
enum class SumMethod { wide, items, simple };
struct SumPlan {
  SumMethod method;
  int block = sum_block;
  int items_variant = 1;
};
inline constexpr SumPlan sum_plans[] = {{SumMethod::wide, 256},           {SumMethod::wide, 128},
                                        {SumMethod::wide, 512},           {SumMethod::items, sum_block, 0},
                                        {SumMethod::items, sum_block, 2}, {SumMethod::simple}};

template <SumPlan Plan, int W, int N, class Rows, class Done>
void sum_rows_by(const Rows& rows, const Done& done, std::int64_t count, std::int64_t k, void* partial,
                 Stream& s) {
  using Chunks = ChunkSums<N, Rows, Done>;
  using Partials = PartialSums<N, Done>;
  if constexpr (Plan.method == SumMethod::simple) {
    auto* const sums = static_cast<Sums<N>*>(partial);
    cuda::launch(sum_rows_simply<Chunks, Partials>, blocks(count, 1), sum_block, 0, native(s),
                 Chunks{rows, done, k, sum_chunks(k), sums}, Partials{sums, done, sum_chunks(k)}, count);
  } else {
    const auto run = [&]<class Job>(const Job& job, std::int64_t items, std::int64_t terms) {
      if constexpr (Plan.method == SumMethod::wide && std::is_same_v<Job, Chunks>)
        if (terms > sum_shapes[0].width())
          return cuda::launch(sum_items_wide<W, Plan.block, Job>, blocks(items, Plan.block / 32), Plan.block,
                              0, native(s), job, items);
      SumItems{native(s), Plan.items_variant}(job, items, terms);
    };
    sum_rows<N>(rows, done, count, k, partial, run);
  }
}

/// N sums over each of `count` rows of k elements of T by sum_plans[plan]; `packed` as packed_rows says.
template <int N, class T, class Rows, class Done>
void sum_rows_by(int plan, bool packed, const Rows& rows, const Done& done, std::int64_t count,
                 std::int64_t k, void* partial, Stream& s) {
  select<std::size(sum_plans)>(plan, [&]<int P> {
    if (packed)
      sum_rows_by<sum_plans[P], pack_width<T>, N>(rows, done, count, k, partial, s);
    else
      sum_rows_by<sum_plans[P], 1, N>(rows, done, count, k, partial, s);
  });
}

}  // namespace
}  // namespace kolmo::cuda
