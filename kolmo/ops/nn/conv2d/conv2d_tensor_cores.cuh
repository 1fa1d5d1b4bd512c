#pragma once
// conv2d on tensor cores: f16 or bf16 factors, sums in f32. A block of four warps computes 64 output channels by 64
// pixels, 32 terms at a time.
#include "kolmo/device/mma.cuh"
#include "kolmo/ops/nn/conv2d/conv2d_problem.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

constexpr int conv_warp_threads = 128, conv_warp_side = 64;

/// packs: eight terms in a row are neighbours in memory, at a multiple of 16 bytes.
template <class T, bool Nhwc>
__global__ void __launch_bounds__(conv_warp_threads, 4)
    conv_warps(ConvProblem<T> c, std::int64_t tiles, bool packs) {
  constexpr int side = conv_warp_side, depth = 32, threads = conv_warp_threads, pad = 8;
  using Native = cuda::NativeHalf<T>;
  // The right factor has pixels in columns or, with nhwc, in rows, as they lie in memory.
  constexpr int right_rows = Nhwc ? side : depth, right_stride = (Nhwc ? depth : side) + pad;
  union Shared {
    struct {
      T left[side][depth + pad], right[right_rows][right_stride];
    } pieces;
    float sums[threads / 32][16 * 16];
  };
  __shared__ __align__(128) unsigned char memory[sizeof(Shared)];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int thread = int(threadIdx.x), warp = thread / 32, lane = thread % 32, row = warp / 2 * 32,
            column = warp % 2 * 32;

  for (std::int64_t i = blockIdx.x; i < tiles; i += gridDim.x) {
    const ConvTile tile(c, i, side, side);
    const T* const kernels = c.weight + (std::int64_t(tile.group) * c.group_outputs + tile.output) * c.terms;
    cuda::SumFragment sum[2][2];
#pragma unroll
    for (int a = 0; a < 2; ++a)
#pragma unroll
      for (int b = 0; b < 2; ++b) cuda::wmma::fill_fragment(sum[a][b], 0.0f);
    // With nhwc two neighbouring threads read one pixel, otherwise each thread reads one.
    const ConvPixel pixel = c.pixel(tile.pixel + (Nhwc ? thread / 2 : thread % side), tile.group);

    for (int k0 = 0; k0 < c.terms; k0 += depth) {
      if (Nhwc && packs) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          const int k = thread % 2 * 16 + j * 8, o = thread / 2;
          int4 kernel{}, value{};
          if (k0 + k < c.terms) {
            if (tile.output + o < c.group_outputs)
              kernel = *reinterpret_cast<const int4*>(kernels + std::int64_t(o) * c.terms + k0 + k);
            const ConvTerm t = c.term[k0 + k];
            if (c.inside(pixel, t)) value = *reinterpret_cast<const int4*>(c.x + (pixel.offset + t.offset));
          }
          *reinterpret_cast<int4*>(&shared.pieces.left[o][k]) = kernel;
          *reinterpret_cast<int4*>(&shared.pieces.right[o][k]) = value;
        }
      } else {
#pragma unroll 4
        for (int e = thread; e < side * depth; e += threads) {
          const int k = e % depth, o = e / depth;
          shared.pieces.left[o][k] = k0 + k < c.terms && tile.output + o < c.group_outputs
                                         ? kernels[std::int64_t(o) * c.terms + k0 + k]
                                         : T(0.0f);
        }
#pragma unroll 4
        for (int j = 0; j < side * depth / threads; ++j) {
          const int k = Nhwc ? thread % 2 * 16 + j : thread / side + j * (threads / side);
          T value = T(0.0f);
          if (k0 + k < c.terms) {
            const ConvTerm t = c.term[k0 + k];
            if (c.inside(pixel, t)) value = c.x[pixel.offset + t.offset];
          }
          if constexpr (Nhwc)
            shared.pieces.right[thread / 2][k] = value;
          else
            shared.pieces.right[k][thread % side] = value;
        }
      }
      __syncthreads();
      const auto* left = reinterpret_cast<const Native*>(&shared.pieces.left[0][0]);
      const auto* right = reinterpret_cast<const Native*>(&shared.pieces.right[0][0]);
#pragma unroll
      for (int d = 0; d < depth; d += 16) {
        cuda::RightFragment<T, Nhwc> r[2];
#pragma unroll
        for (int b = 0; b < 2; ++b) {
          const int p = column + 16 * b;
          cuda::wmma::load_matrix_sync(r[b], right + (Nhwc ? p * right_stride + d : d * right_stride + p),
                                       right_stride);
        }
#pragma unroll
        for (int a = 0; a < 2; ++a) {
          cuda::LeftFragment<T, false> l;
          cuda::wmma::load_matrix_sync(l, left + (row + 16 * a) * (depth + pad) + d, depth + pad);
#pragma unroll
          for (int b = 0; b < 2; ++b) cuda::wmma::mma_sync(sum[a][b], l, r[b], sum[a][b]);
        }
      }
      __syncthreads();
    }

    float* const stage = shared.sums[warp];
#pragma unroll
    for (int a = 0; a < 2; ++a)
#pragma unroll
      for (int b = 0; b < 2; ++b) {
        // Neighbouring lanes write neighbouring pixels or, with nhwc, neighbouring channels.
        cuda::wmma::store_matrix_sync(stage, sum[a][b], 16,
                                      Nhwc ? cuda::wmma::mem_col_major : cuda::wmma::mem_row_major);
        __syncwarp();
#pragma unroll 1
        for (int e = lane; e < 256; e += 32) {
          const int o = Nhwc ? e % 16 : e / 16, p = Nhwc ? e / 16 : e % 16;
          c.finish(tile.pixel + column + 16 * b + p, tile.group, tile.output + row + 16 * a + o, stage[e]);
        }
        __syncwarp();
      }
    __syncthreads();
  }
}

}  // namespace
}  // namespace kolmo
