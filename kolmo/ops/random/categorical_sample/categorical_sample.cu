#include <algorithm>

#include "kolmo/ops/random/categorical_sample/weight_sums.cuh"
#include "kolmo/skeleton/steps.cuh"

namespace kolmo {
namespace {
using A = CategoricalSampleArgs;

/// first_of of low <= high by a warp, which looks at 32 places at once.
template <class F>
__device__ std::int64_t first_by_warp(std::int64_t low, std::int64_t high, const F& f) {
  const int lane = int(threadIdx.x) % 32;
  while (low < high) {
    const std::int64_t each = (high - low + 31) / 32, at = low + (lane + 1) * each - 1;
    const unsigned there = __ballot_sync(~0u, at >= high || f(at));
    const int first = there ? __ffs(int(there)) - 1 : 32;  // behind what the lane before `first` looked at
    const std::int64_t last = low + (first + 1) * each - 1;
    low += first * each, high = last < high ? last : high;
  }
  return high;
}

/// Draw `item`, of `row`, by a warp, of which all lanes get it. before[b] is the sum of the row before block b.
template <class T>
__device__ std::int64_t draw_by_warp(const DrawCategory<T>& draw, std::int64_t row, std::int64_t item,
                                     const double* before) {
  const auto& of = draw.of;
  const int lane = int(threadIdx.x) % 32;
  const std::int64_t e = draw.offset + item;
  const double total = before[of.blocks];
  if (!is_total(total)) return -1;
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
  std::int64_t found = -1;
#pragma unroll
  for (int a = each - 1; a >= 0; --a) {
    const std::int64_t first = begin + 32 * a;
    const unsigned there = __ballot_sync(~0u, first + lane < of.k && reached(exact_add(before[b], up_to[a])));
    if (there) found = first + __ffs(int(there)) - 1;
  }
  return found;
}

/// DrawCategory by a warp for each draw: of a few draws each waits for its reads.
constexpr int draw_block = 128;
template <class T>
__global__ void __launch_bounds__(draw_block)
    draw_by_warps(cuda::EarlyStart early, DrawCategory<T> draw, std::int64_t items) {
  early.wait();
  for (std::int64_t item = cuda::thread_index() / 32; item < items; item += cuda::thread_count() / 32) {
    const std::int64_t row = quotient(item, draw.n),
                       found = draw_by_warp(draw, row, item, draw.of.before + row * (draw.of.blocks + 1));
    if (threadIdx.x % 32 == 0) draw.index[item] = found;
  }
}

/// All threads of a block wait here, for each other's stores too, whatever brings them here: warps of several roles may do so
/// at a barrier with a number and a count (PTX ISA 9.0, barrier), not at __syncthreads.
template <int Threads>
__device__ void meet() {
#ifdef __CUDA_ARCH__
  asm volatile("bar.sync 1, %0;" ::"n"(Threads) : "memory");
#else
  __syncthreads();
#endif
}

/// Whole rows in one pass. Warps sum the blocks of a row, each 32 of them in turn, while a further warp adds the sums of the
/// row before and draws from it; the copies run on from row to row. Both rows' sums are in shared memory.
template <class T>
constexpr int row_warps = 16 / int(sizeof(T));
template <class T>
constexpr int row_threads = 32 * (row_warps<T> + 1);
constexpr int row_stages = 2, row_residents = 3;
template <class T, int W>
using RowBlocks = CopiedBlocks<T, W, row_warps<T>, row_stages>;
template <class T, int W>
__global__ void __launch_bounds__(row_threads<T>, row_residents)
    draw_from_rows(cuda::EarlyStart early, DrawCategory<T> draw) {
  using Copied = RowBlocks<T, W>;
  constexpr int packs = Copied::packs, length = Copied::length, warps = row_warps<T>;
  const auto& of = draw.of;
  auto* const copied = cuda::dynamic_shared<Copied>();
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32, k = int(of.k),
            groups = (int(of.blocks) + 31) / 32;
  double* before = reinterpret_cast<double*>(copied + 1);
  std::int64_t to_other = 1 + 32 * groups;  // the sums of the next row
  const auto turn = [&] { before += to_other, to_other = -to_other; };
  early.wait();
  if (warp == warps) {
    if (lane < 2) before[lane * to_other] = 0;
    for (std::int64_t row = blockIdx.x; row < of.rows; row += gridDim.x, turn()) {
      meet<row_threads<T>>();
      if (lane == 0 && !is_total(add_in_order(before + 1, 32 * groups, 0))) of.status.report(1, row);
      __syncwarp();
      for (std::int64_t item = row * draw.n; item < (row + 1) * draw.n; ++item) {
        const std::int64_t found = draw_by_warp(draw, row, item, before);
        if (lane == 0) draw.index[item] = found;
      }
    }
    return;
  }
  auto& own = copied->pack[warp];
  /// Up to 32 blocks of a row, which follow each other.
  struct Group {
    std::int64_t row;
    int at;
  };
  const auto next = [&](Group& g) {
    for (g.at += warps; g.at >= groups; g.at -= groups) g.row += gridDim.x;
  };
  Group reading{blockIdx.x, warp - warps}, adding = reading;
  const auto read = [&](int stage) {
    next(reading);
    if (reading.row < of.rows) {
      const int begin = reading.at * 32 * length + lane * W, rest = k - begin;
      const auto* const from = reinterpret_cast<const Pack<T, W>*>(of.weight + reading.row * of.k + begin);
#pragma unroll 16
      for (int j = 0; j < packs; ++j) {
        const unsigned i = unsigned(lane) + 32 * j, block = i / packs;
        cuda::copy_async(&own[stage][block][place_in_block<packs>(block, i % packs)], from + 32 * j,
                         32 * j * W < rest);
      }
    }
    cuda::commit_copies();
  };
#pragma unroll 1
  for (int stage = 0; stage < row_stages; ++stage) read(stage);
  next(adding);
  int stage = 0;
  for (std::int64_t row = blockIdx.x; row < of.rows; row += gridDim.x, turn()) {
    for (; adding.row == row; next(adding)) {
      cuda::wait_copies<row_stages - 1>();
      __syncwarp();
      const Summed block = sum_of_block(own[stage]);
      __syncwarp();
      read(stage);
      stage = (stage + 1) % row_stages;
      const int b = adding.at * 32 + lane, begin = b * length;
      before[1 + b] = block.sum;  // 0 behind the last block, which changes no sum
      if (!block.sound) of.report(row, begin, k - begin < length ? k - begin : length);
    }
    meet<row_threads<T>>();
  }
  cuda::wait_copies<0>();
}
template <class T, int W>
std::int64_t shared_of_rows(const WeightBlocks<T>& of) {
  return std::int64_t(sizeof(RowBlocks<T, W>)) + 2 * 8 * (1 + (of.blocks + 31) / 32 * 32);
}
/// Whether draw_from_rows is the way: the rows keep all multiprocessors busy, reading one takes longer than the sums and draws of
/// another, which are one after the other, and the sums fit in what every GPU from compute capability 8.0 on has for a block.
template <class T>
bool by_rows(const DrawCategory<T>& draw) {
  constexpr std::int64_t least_rows = 132, bytes_of_draw = 1 << 15, most_shared = 99 << 10;
  const auto& of = draw.of;
  return of.rows >= least_rows && draw.n > 0 && of.k / draw.n >= bytes_of_draw / int(sizeof(T)) &&
         shared_of_rows<T, 1>(of) <= most_shared;
}

/// Many draws from a row of few categories: a block has the row's sums in shared memory, and a guide to them: where draws whose
/// first bits are g begin, at guide[g], and end. A thread takes both draws of a block of random words.
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
    const DrawCategory<T> draw(blocks, a);
    const std::int64_t items = blocks.rows * blocks.blocks;
    const bool rows = by_rows(draw);
    const auto sum = [&]<int W> {
      constexpr std::int64_t multiprocessors = 132, memory = 228 << 10, reserved = 1 << 10;  // of an H200
      if (!rows)
        return cuda::launch_early(
            sum_blocks<T, W>, cuda::blocks(items, 32 * sum_warps<T>, multiprocessors * sum_residents),
            32 * sum_warps<T>, sizeof(SummedBlocks<T, W>), cuda::native(s), blocks, items);
      const std::int64_t shared = shared_of_rows<T, W>(blocks),
                         residents = std::min<std::int64_t>(memory / (shared + reserved), row_residents);
      cuda::launch_early(draw_from_rows<T, W>, cuda::blocks(blocks.rows, 1, multiprocessors * residents),
                         row_threads<T>, std::size_t(shared), cuda::native(s), draw);
    };
    if (blocks.inside)
      cuda::do_step(SumBlock<T>{blocks}, s);
    else if (packed_rows<T>(blocks.rows, blocks.k, blocks.weight) && blocks.k % pack_width<T> == 0)
      sum.template operator()<pack_width<T>>();
    else
      sum.template operator()<1>();
    if (rows) return;
    cuda::launch_early(add_blocks<T>, cuda::blocks(blocks.rows, add_threads / 32 * add_rows), add_threads, 0,
                       cuda::native(s), blocks);
    constexpr std::int64_t few = 1 << 14;  // of more, threads are enough to hide how long reads take
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
