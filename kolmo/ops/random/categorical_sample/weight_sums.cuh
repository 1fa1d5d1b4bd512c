#pragma once
// Sums of blocks of weights, and of these. Anonymous namespace: see device/grid.cuh.
#include <bit>
#include <limits>
#include <type_traits>

#include "kolmo/base/pack.hpp"
#include "kolmo/device/async.cuh"
#include "kolmo/device/grid.cuh"
#include "kolmo/ops/random/categorical_sample/sample_items.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

/// Blocks of weights that warps copy to shared memory, 32 at once, W weights at once and as they follow each other; then each
/// lane adds those of one. The next blocks are on their way while it adds.
template <class T, int W, int Warps, int Stages>
struct CopiedBlocks {
  static constexpr int length = int(WeightBlocks<T>::length), packs = length / W;
  Pack<T, W> pack[Warps][Stages][32][packs];
};
/// Where a block's packs lie, in an order that lets lanes read different banks.
template <int Packs>
__device__ unsigned place_in_block(unsigned block, unsigned at) {
  return (at ^ block) % Packs;
}
/// The sum of this lane's block, zeros behind its end, as SumBlock, and whether its weights may all be sound: a sum is not
/// finite where a weight is not. -0 is taken for negative, so that `report` has the last word.
struct Summed {
  double sum;
  bool sound;
};
template <class T, int W, int Packs>
__device__ Summed sum_of_block(const Pack<T, W> (&block)[32][Packs]) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const unsigned lane = threadIdx.x % 32;
  double sum = 0;
  Bits signs = 0;
#pragma unroll 16
  for (int i = 0; i < Packs; ++i) {
    const Pack<T, W> some = block[lane][place_in_block<Packs>(lane, i)];
#pragma unroll
    for (int w = 0; w < W; ++w) {
      signs |= std::bit_cast<Bits>(some.value[w]);
      sum = exact_add(sum, double(some.value[w]));
    }
  }
  return {sum, signs >= 0 && sum <= std::numeric_limits<double>::max()};
}

/// SumBlock, one for each lane.
template <class T>
constexpr int sum_warps = 16 / int(sizeof(T));
constexpr int sum_residents = 3;
template <class T, int W>
using SummedBlocks = CopiedBlocks<T, W, sum_warps<T>, 2>;
template <class T, int W>
__global__ void __launch_bounds__(32 * sum_warps<T>, sum_residents)
    sum_blocks(cuda::EarlyStart early, WeightBlocks<T> of, std::int64_t items) {
  using Copied = SummedBlocks<T, W>;
  constexpr int length = Copied::length, packs = Copied::packs;
  auto& own = cuda::dynamic_shared<Copied>()->pack[threadIdx.x / 32];
  const int lane = int(threadIdx.x) % 32;
  /// A lane's block: where it begins, and its length.
  struct Block {
    std::int64_t row, begin, from;
    int count;
  };
  const auto block_of = [&](std::int64_t first) {
    const std::int64_t item = first + lane < items ? first + lane : items - 1,
                       row = quotient(item, of.blocks), begin = (item - row * of.blocks) * length,
                       rest = of.k - begin;
    return Block{row, begin, row * of.k + begin, int(rest < length ? rest : length)};
  };
  const auto read = [&](const Block& b, int stage) {
#pragma unroll 4
    for (int i = lane; i < 32 * packs; i += 32) {
      const int block = i / packs, at = i % packs;
      const std::int64_t start = __shfl_sync(~0u, b.from, block);
      cuda::copy_async(&own[stage][block][place_in_block<packs>(block, at)],
                       reinterpret_cast<const Pack<T, W>*>(of.weight + start + at * W),
                       at * W < __shfl_sync(~0u, b.count, block));
    }
    cuda::commit_copies();
  };
  early.wait();
  std::int64_t first = cuda::thread_index() - lane;
  if (first >= items) return;
  Block now = block_of(first);
  read(now, 0);
  for (int stage = 0; first < items; first += cuda::thread_count(), stage = 1 - stage) {
    const std::int64_t then = first + cuda::thread_count();
    Block next = block_of(then < items ? then : first);
    if (then >= items) next.count = 0;
    read(next, 1 - stage);
    cuda::wait_copies<1>();
    __syncwarp();
    const Summed block = sum_of_block(own[stage]);
    __syncwarp();
    if (const std::int64_t item = first + lane; item < items) {
      if (!block.sound) of.report(now.row, now.begin, now.count);
      of.before[item + now.row + 1] = block.sum;
    }
    now = next;
  }
  cuda::wait_copies<0>();
}

/// Adds to `sum` the `count` numbers at `from`, in order, and leaves there the sums up to and with each. count is a multiple of 16.
__device__ double add_in_order(double* from, int count, double sum) {
#pragma unroll 1
  for (int i = 0; i < count; i += 16) {
    double some[16];
#pragma unroll
    for (int j = 0; j < 16; ++j) some[j] = from[i + j];
#pragma unroll
    for (int j = 0; j < 16; ++j) from[i + j] = sum = exact_add(sum, some[j]);
  }
  return sum;
}

/// AddBlocks by a warp for a few rows: a lane for each adds, in order, what all have read, while they read what follows.
constexpr int add_threads = 128, add_rows = 4, add_together = 128;
template <class T>
__global__ void __launch_bounds__(add_threads) add_blocks(cuda::EarlyStart early, WeightBlocks<T> of) {
  __shared__ double shared[add_threads / 32][add_rows][add_together + 2];
  auto& part = shared[threadIdx.x / 32];
  const int lane = int(threadIdx.x) % 32;
  constexpr int each = add_together / 32;
  early.wait();
  for (std::int64_t row = cuda::thread_index() / 32 * add_rows; row < of.rows;
       row += cuda::thread_count() / 32 * add_rows) {
    const int rows = int(of.rows - row < add_rows ? of.rows - row : add_rows);
    const std::int64_t step = of.blocks + 1;
    double* const before = of.before + row * step;
    /// f(r, e, place) for this lane's sums of each row, of add_together from the first-th on.
    const auto for_each = [&](std::int64_t first, const auto& f) {
#pragma unroll
      for (int r = 0; r < add_rows; ++r)
#pragma unroll
        for (int e = 0; e < each; ++e)
          if (const std::int64_t i = first + lane + 32 * e; r < rows && i <= of.blocks)
            f(r, e, before + r * step + i);
    };
    double next[add_rows][each], sum = 0;
    const auto read = [&](std::int64_t first) {
#pragma unroll
      for (int r = 0; r < add_rows; ++r)
#pragma unroll
        for (int e = 0; e < each; ++e) next[r][e] = 0;
      for_each(first, [&](int r, int e, const double* place) { next[r][e] = *place; });
    };
    if (lane < rows) before[lane * step] = 0;
    read(1);
    for (std::int64_t first = 1; first <= of.blocks; first += add_together) {
#pragma unroll
      for (int r = 0; r < add_rows; ++r)
#pragma unroll
        for (int e = 0; e < each; ++e) part[r][lane + 32 * e] = next[r][e];
      read(first + add_together);
      __syncwarp();
      if (lane < rows) sum = add_in_order(part[lane], add_together, sum);
      __syncwarp();
      for_each(first, [&](int r, int e, double* place) { *place = part[r][lane + 32 * e]; });
      __syncwarp();
    }
    if (lane < rows && !is_total(sum)) of.status.report(1, row + lane);
  }
}

}  // namespace
}  // namespace kolmo
