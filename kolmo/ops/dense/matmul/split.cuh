#pragma once
// Splits f32 into three bf16 whose sum it is, so that matmul can compute products of f32 on tensor cores.
#include <bit>
#include <cmath>

#include "kolmo/base/half.hpp"
#include "kolmo/base/pack.hpp"
#include "kolmo/ops/dense/matmul/matmul_split.hpp"

namespace kolmo {
namespace {

constexpr int split_block = 256, split_extent = 32, split_depth = 64;

/// x as a sum of three bf16, each the rest rounded; exact but for what is below the least bf16. What is no finite number is the first part.
__device__ inline void split_in_three(float x, BFloat16 (&parts)[3]) {
#pragma unroll
  for (BFloat16& part : parts) {
    part = x;
    if (!std::isfinite(x)) {
      x = 0;
    } else {
      if (!std::isfinite(float(part)))
        part = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffff0000);
      x -= float(part);
    }
  }
}

/// Writes the parts of a chunk of a factor: for each of the `extent` rows (or columns) of an entry of the batch `depth` elements for each
/// of MatmulSplit::products. `x` is extent x k, or k x extent if it is Turned; the chunk begins at `from`, and is 0 from k on.
template <bool Turned, bool Left>
__global__ void __launch_bounds__(split_block)
    split_factor(const float* x, BFloat16* parts, int extent, int k, int from, int depth) {
  __shared__ float tile[split_extent][split_depth + 1];
  const int across = depth / split_depth, down = (extent + split_extent - 1) / split_extent;
  const int first = int(blockIdx.x) % across * split_depth,
            high = int(blockIdx.x) / across % down * split_extent;
  const std::int64_t entry = int(blockIdx.x) / across / down;
  x += entry * extent * k;
#pragma unroll
  for (int i = int(threadIdx.x); i < split_extent * split_depth; i += split_block) {
    const int e = Turned ? i % split_extent : i / split_depth,
              d = Turned ? i / split_extent : i % split_depth;
    const int row = high + e, l = from + first + d;
    tile[e][d] =
        row < extent && l < k ? x[Turned ? std::int64_t(l) * extent + row : std::int64_t(row) * k + l] : 0;
  }
  __syncthreads();
  constexpr int width = 8, packs = split_depth / width;
  const int e = int(threadIdx.x) / packs, d = int(threadIdx.x) % packs * width;
  static_assert(split_block == split_extent * packs);
  if (high + e >= extent) return;
  Pack<BFloat16, width> all[3];
#pragma unroll
  for (int w = 0; w < width; ++w) {
    BFloat16 of[3];
    split_in_three(tile[e][d + w], of);
#pragma unroll
    for (int p = 0; p < 3; ++p) all[p].value[w] = of[p];
  }
  BFloat16* to = parts + (entry * extent + high + e) * MatmulSplit::products * depth + first + d;
#pragma unroll
  for (int p = 0; p < MatmulSplit::products; ++p, to += depth)
    store_pack(to, all[Left ? MatmulSplit::part_of_a(p) : MatmulSplit::part_of_b(p)]);
}

}  // namespace
}  // namespace kolmo
