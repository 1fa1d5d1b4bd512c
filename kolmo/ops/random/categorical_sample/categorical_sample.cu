#include "kolmo/base/pack.hpp"
#include "kolmo/device/async.cuh"
#include "kolmo/device/warp.cuh"
#include "kolmo/ops/random/categorical_sample/sample_items.hpp"
#include "kolmo/skeleton/steps.cuh"

namespace kolmo {
namespace {
using A = CategoricalSampleArgs;

/// Sums of blocks of weights, as SumBlock, one for each lane. A warp copies 32 blocks to shared memory, W weights at
/// once, so that it reads memory in order; rows there are longer than blocks, so that lanes read different banks.
template <class T>
constexpr int sum_warps = 16 / int(sizeof(T));
template <class T, int W>
__global__ void __launch_bounds__(32 * sum_warps<T>)
    sum_blocks(cuda::EarlyStart early, WeightBlocks<T> of, std::int64_t items) {
  using Words = Pack<T, W>;
  constexpr int length = int(WeightBlocks<T>::length), stride = length + W, packs = length / W;
  __shared__ Words shared[sum_warps<T>][32 * stride / W];
  T* const own = shared[threadIdx.x / 32]->value;
  const int lane = int(threadIdx.x) % 32;
  early.wait();
  for (std::int64_t first = cuda::thread_index() - lane; first < items; first += cuda::thread_count()) {
    const bool active = first + lane < items;
    const std::int64_t item = active ? first + lane : first, row = quotient(item, of.blocks),
                       begin = (item - row * of.blocks) * length;
    const std::int64_t from = row * of.k + begin;
    const int count = int(of.k - begin < length ? of.k - begin : length);
#pragma unroll 4
    for (int i = lane; i < 32 * packs; i += 32) {
      const int block = i / packs, at = i % packs * W;
      const std::int64_t start = __shfl_sync(~0u, from, block);
      if (at < __shfl_sync(~0u, count, block))
        cuda::copy_async(reinterpret_cast<Words*>(own + block * stride + at),
                         reinterpret_cast<const Words*>(of.weight + start + at));
    }
    cuda::commit_copies();
    cuda::wait_copies<0>();
    __syncwarp();
    double sum = 0;
    bool sound = true;
    const T* const weights = own + lane * stride;
#pragma unroll 4
    for (int i = 0; i < length; i += W) {
      if (i >= count) break;
      const Words next = load_pack<W>(weights + i);
#pragma unroll
      for (int w = 0; w < W; ++w) {
        sound = sound && is_weight(next.value[w]);
        sum = exact_add(sum, double(next.value[w]));
      }
    }
    if (active) {
      if (!sound) of.report(row, begin, count);
      of.before[item + row + 1] = sum;
    }
    __syncwarp();
  }
}

/// AddBlocks by a warp for each row: one lane adds, in order, what all have read.
constexpr int add_threads = 128, add_together = 256;
template <class T>
__global__ void __launch_bounds__(add_threads) add_blocks(cuda::EarlyStart early, WeightBlocks<T> of) {
  __shared__ double shared[add_threads / 32][add_together];
  double* const part = shared[threadIdx.x / 32];
  const int lane = int(threadIdx.x) % 32;
  early.wait();
  for (std::int64_t row = cuda::thread_index() / 32; row < of.rows; row += cuda::thread_count() / 32) {
    double* const before = of.before + row * (of.blocks + 1);
    double sum = 0;
    if (lane == 0) before[0] = 0;
    for (std::int64_t first = 1; first <= of.blocks; first += add_together) {
      const int count = int(of.blocks + 1 - first < add_together ? of.blocks + 1 - first : add_together);
#pragma unroll
      for (int i = lane; i < add_together; i += 32) part[i] = i < count ? before[first + i] : 0;
      __syncwarp();
      if (lane == 0)
        for (int i = 0; i < add_together; i += 16) {
          double next[16];
#pragma unroll
          for (int j = 0; j < 16; ++j) next[j] = part[i + j];
#pragma unroll
          for (int j = 0; j < 16; ++j) part[i + j] = sum = exact_add(sum, next[j]);
        }
      __syncwarp();
#pragma unroll
      for (int i = lane; i < add_together; i += 32)
        if (i < count) before[first + i] = part[i];
      __syncwarp();
    }
    if (lane == 0 && !is_total(sum)) of.status.report(1, row);
  }
}

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float>(a.weight.dtype, [&]<class T> {
    const WeightBlocks<T> blocks(arena, a, s.status());
    const std::int64_t items = blocks.rows * blocks.blocks;
    const auto sum = [&](auto kernel) {
      cuda::launch_early(kernel, cuda::blocks(items, 32 * sum_warps<T>), 32 * sum_warps<T>, 0,
                         cuda::native(s), blocks, items);
    };
    sum(packed_rows<T>(blocks.rows, blocks.k, blocks.weight) && blocks.k % pack_width<T> == 0
            ? sum_blocks<T, pack_width<T>>
            : sum_blocks<T, 1>);
    cuda::launch_early(add_blocks<T>, cuda::blocks(blocks.rows, add_threads / 32), add_threads, 0,
                       cuda::native(s), blocks);
    cuda::do_step<64>(DrawCategory<T>(blocks, a), s);
  });
}

void lay(Arena& arena, const A& a, const Site&) {
  visit<double, float>(a.weight.dtype, [&]<class T> { WeightBlocks<T>(arena, a, {}); });
}

}  // namespace

extern constinit const Impl<A> categorical_sample_cuda{{.launch = launch, .lay = lay}};

}  // namespace kolmo
