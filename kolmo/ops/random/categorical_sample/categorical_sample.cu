#include "kolmo/base/pack.hpp"
#include "kolmo/device/async.cuh"
#include "kolmo/device/multiprocessors.cuh"
#include "kolmo/ops/random/categorical_sample/sample_items.hpp"
#include "kolmo/skeleton/steps.cuh"

namespace kolmo {
namespace {
using A = CategoricalSampleArgs;

/// Does what SumBlock does, where nobody needs the sums within blocks. A warp copies 32 blocks to shared memory, W weights at a
/// time in the order of memory; then each lane adds one block, while the next 32 are being copied.
template <class T>
constexpr int sum_warps = 16 / int(sizeof(T));
constexpr int sum_residents = 3;
template <class T, int W>
struct CopiedBlocks {
  static constexpr int length = int(WeightBlocks<T>::length);
  Pack<T, W> pack[sum_warps<T>][2][32][length / W + 1];  // one more pack, so that lanes read different banks
};
template <class T, int W>
__global__ void __launch_bounds__(32 * sum_warps<T>, sum_residents)
    sum_blocks(cuda::EarlyStart early, WeightBlocks<T> of, std::int64_t items) {
  using Copied = CopiedBlocks<T, W>;
  constexpr int length = Copied::length, packs = length / W;
  auto& own = cuda::dynamic_shared<Copied>()->pack[threadIdx.x / 32];
  const int lane = int(threadIdx.x) % 32;
  /// Where a lane's block begins, in its row and in all weights, and its length.
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
      if (at * W < __shfl_sync(~0u, b.count, block))
        cuda::copy_async(&own[stage][block][at],
                         reinterpret_cast<const Pack<T, W>*>(of.weight + start + at * W), true);
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
    double sum = 0;
    bool sound = true;
#pragma unroll 4
    for (int i = 0; i < packs; ++i) {
      if (i * W >= now.count) break;
      const Pack<T, W> some = own[stage][lane][i];
#pragma unroll
      for (int w = 0; w < W; ++w) {
        sound = sound && is_weight(some.value[w]);
        sum = exact_add(sum, double(some.value[w]));
      }
    }
    __syncwarp();
    if (const std::int64_t item = first + lane; item < items) {
      if (!sound) of.report(now.row, now.begin, now.count);
      of.before[item + now.row + 1] = sum;
    }
    now = next;
  }
  cuda::wait_copies<0>();
}

/// Does what AddBlocks does, add_rows rows by a warp. All lanes read sums ahead, and for each row one lane adds in order what
/// they have read.
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
    /// Calls f(r, e, place) for this lane's sums among the add_together from number `first` on, in each row.
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
      if (lane < rows)
#pragma unroll 1
        for (int i = 0; i < add_together; i += 16) {
          double some[16];
#pragma unroll
          for (int j = 0; j < 16; ++j) some[j] = part[lane][i + j];
#pragma unroll
          for (int j = 0; j < 16; ++j) part[lane][i + j] = sum = exact_add(sum, some[j]);
        }
      __syncwarp();
      for_each(first, [&](int r, int e, double* place) { *place = part[r][lane + 32 * e]; });
      __syncwarp();
    }
    if (lane < rows && !is_total(sum)) of.status.report(1, row + lane);
  }
}

/// Returns first_of(low, high, f) for low <= high by a warp, which looks at 32 places at once.
template <class F>
__device__ std::int64_t first_by_warp(std::int64_t low, std::int64_t high, const F& f) {
  const int lane = int(threadIdx.x) % 32;
  while (low < high) {
    const std::int64_t each = (high - low + 31) / 32, at = low + (lane + 1) * each - 1;
    const unsigned there = __ballot_sync(~0u, at >= high || f(at));
    const int first = there ? __ffs(int(there)) - 1
                            : 32;  // the result lies behind the place that the lane before `first` looked at
    const std::int64_t last = low + (first + 1) * each - 1;
    low += first * each, high = last < high ? last : high;
  }
  return high;
}

/// Does what DrawCategory does, each draw by a warp. Few draws by a thread each would wait for one read after the other.
constexpr int draw_block = 128;
template <class T>
__global__ void __launch_bounds__(draw_block)
    draw_by_warps(cuda::EarlyStart early, DrawCategory<T> draw, std::int64_t items) {
  const auto& of = draw.of;
  const int lane = int(threadIdx.x) % 32;
  early.wait();
  for (std::int64_t item = cuda::thread_index() / 32; item < items; item += cuda::thread_count() / 32) {
    const std::int64_t row = quotient(item, draw.n), e = draw.offset + item;
    const double* const before = of.before + row * (of.blocks + 1);
    const double total = before[of.blocks];
    std::int64_t found = -1;
    if (is_total(total)) {
      const Reached reached{draw.uniform(draw.philox(std::uint64_t(e / 2), 0), e % 2) * total, total};
      const std::int64_t b = first_by_warp(0, of.blocks - 1,
                                           [&](std::int64_t i) { return reached(before[i + 1]); }),
                         begin = b * of.length;
      constexpr int each = int(of.length) / 32;
      double weight[each], sum = 0, up_to[each];
#pragma unroll
      for (int a = 0; a < each; ++a) {
        const std::int64_t i = begin + 32 * a + lane;
        weight[a] = i < of.k ? double(of.weight[row * of.k + i]) : 0;
      }
#pragma unroll
      for (int a = 0; a < each; ++a)
#pragma unroll
        for (int from = 0; from < 32; ++from) {
          sum = exact_add(sum, __shfl_sync(~0u, weight[a], from));
          if (from == lane) up_to[a] = sum;
        }
#pragma unroll
      for (int a = each - 1; a >= 0; --a) {
        const std::int64_t first = begin + 32 * a;
        const unsigned there =
            __ballot_sync(~0u, first + lane < of.k && reached(exact_add(before[b], up_to[a])));
        if (there) found = first + __ffs(int(there)) - 1;
      }
    }
    if (lane == 0) draw.index[item] = found;
  }
}

/// Takes many draws from a row of few categories. A block has the sums of the row in shared memory and a guide to them: a draw
/// whose first bits are g finds its category from guide[g] to guide[g + 1]. A thread takes both draws of a block of random words.
constexpr int guide_bits = 10, guided_categories = 2048, guided_draws = 8192, guide_threads = 256;
template <class T>
__global__ void __launch_bounds__(guide_threads)
    draw_guided(cuda::EarlyStart early, DrawCategory<T> draw, std::int64_t parts) {
  constexpr int cells = 1 << guide_bits;
  const auto& of = draw.of;
  const int k = int(of.k);
  __shared__ double sums[guided_categories];
  __shared__ std::uint16_t guide[cells + 1];
  const bool packed = draw.offset % 2 == 0 && reinterpret_cast<std::uintptr_t>(draw.index) % 16 == 0;
  early.wait();
  for (std::int64_t item = blockIdx.x; item < of.rows * parts; item += gridDim.x) {
    const std::int64_t row = quotient(item, parts), begin = (item - row * parts) * guided_draws,
                       end = begin + guided_draws < draw.n ? begin + guided_draws : draw.n;
    const double* const before = of.before + row * (of.blocks + 1);
    const double total = before[of.blocks];
    const auto first_from = [&](int low, int high, double u) {
      const Reached reached{u * total, total};
      return first_of(low, high, [&](int i) { return reached(sums[i]); });
    };
    __syncthreads();
    for (int i = int(threadIdx.x); i < k; i += guide_threads)
      sums[i] = exact_add(before[i / of.length], of.inside[row * k + i]);
    __syncthreads();
    for (int g = int(threadIdx.x); g <= cells; g += guide_threads)
      guide[g] = std::uint16_t(first_from(0, k - 1, double(g) / cells));
    __syncthreads();
    const std::int64_t first = draw.offset + row * draw.n + begin, last = first + end - begin;
    for (std::int64_t block = first / 2 + threadIdx.x; 2 * block < last; block += guide_threads) {
      const Philox::Words words = draw.philox(std::uint64_t(block), 0);
      Pack<std::int64_t, 2> found;
#pragma unroll
      for (int odd = 0; odd < 2; ++odd) {
        const unsigned g = words.w[2 * odd] >> (32 - guide_bits);
        const int i = first_from(guide[g], guide[g + 1], draw.uniform(words, odd));
        found.value[odd] = is_total(total) ? i : -1;
      }
      const std::int64_t e = 2 * block;
      if (packed && e >= first && e + 1 < last) {
        store_pack(draw.index + (e - draw.offset), found);
      } else {
        if (e >= first) draw.index[e - draw.offset] = found.value[0];
        if (e + 1 < last) draw.index[e + 1 - draw.offset] = found.value[1];
      }
    }
  }
}

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float>(a.weight.dtype, [&]<class T> {
    const WeightBlocks<T> blocks(arena, a, s.status());
    const std::int64_t items = blocks.rows * blocks.blocks;
    const auto sum = [&]<int W> {
      constexpr int block = 32 * sum_warps<T>;
      const std::int64_t resident = std::int64_t(cuda::multiprocessors(a.index.device.index)) * sum_residents;
      cuda::launch_early(sum_blocks<T, W>, cuda::blocks(items, block, resident), block,
                         sizeof(CopiedBlocks<T, W>), cuda::native(s), blocks, items);
    };
    if (blocks.inside)
      cuda::do_step(SumBlock<T>{blocks}, s);
    else if (packed_rows<T>(blocks.rows, blocks.k, blocks.weight) && blocks.k % pack_width<T> == 0)
      sum.template operator()<pack_width<T>>();
    else
      sum.template operator()<1>();
    cuda::launch_early(add_blocks<T>, cuda::blocks(blocks.rows, add_threads / 32 * add_rows), add_threads, 0,
                       cuda::native(s), blocks);
    const DrawCategory<T> draw(blocks, a);
    constexpr std::int64_t few = 1 << 14;  // with more draws, their number hides the time of reads
    if (!blocks.inside && draw.items() <= few)
      return cuda::launch_early(draw_by_warps<T>, cuda::blocks(draw.items(), draw_block / 32), draw_block, 0,
                                cuda::native(s), draw, draw.items());
    if (!blocks.inside || blocks.k > guided_categories || draw.n < guided_draws / 2)
      return cuda::do_step<64>(draw, s);
    const std::int64_t parts = (draw.n + guided_draws - 1) / guided_draws;
    cuda::launch_early(draw_guided<T>, cuda::blocks(blocks.rows * parts, 1), guide_threads, 0,
                       cuda::native(s), draw, parts);
  });
}

void lay(Arena& arena, const A& a, const Site&) {
  visit<double, float>(a.weight.dtype, [&]<class T> { WeightBlocks<T>(arena, a, {}); });
}

}  // namespace

extern constinit const Impl<A> categorical_sample_cuda{{.launch = launch, .lay = lay}};

}  // namespace kolmo
