#pragma once
// What the sources of matmul share: which source has the kernels of which row of the table of variants, and
// how these are called.
#include <algorithm>

#include "kolmo/base/arena.hpp"
#include "kolmo/device/grid.cuh"
#include "kolmo/ops/dense/matmul/gemm.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {

/// The configuration of a variant: an engine, the index in its table of shapes, and the number of parts that
/// k is split into.
struct MatmulPlan {
  enum Engine : std::uint8_t {
    warpgroups,
    tensor_cores,
    split_warpgroups,
    split_tensor_cores,
    few_rows,
    few_rows_f32,
    tiles_f32,
    tiles_f64,
    doubles,
    dots,
    vendor,
    naive
  };
  Engine engine;
  int shape = 0, parts = 1;
};

namespace {

template <class T>
Gemm<T> gemm_of(const MatmulArgs& x, int parts = 1, void* partial = nullptr) {
  const MatmulSizes s(x);
  return {x.a.as<T>(),
          x.b.as<T>(),
          adds_c(x) ? x.c.as<T>() : nullptr,
          x.bias.given() ? x.bias.as<T>() : nullptr,
          x.y.data,
          s.batch,
          int(s.m),
          int(s.n),
          x.alpha == 0 ? 0 : int(s.k),
          parts,
          static_cast<SumOf<T>*>(partial),
          SumOf<T>(x.alpha),
          SumOf<T>(x.beta),
          x.activation,
          x.y.dtype == DType::f32};
}

/// Extents are int in kernels, and block counts have 31 bits.
constexpr std::int64_t limit = (std::int64_t(1) << 31) - 512;

/// Whether the rows of a matrix, of every batch entry, start at multiples of 16 bytes.
inline bool whole_packs(const Tensor& t) {
  const std::size_t row = std::size_t(t.extent[std::size_t(t.rank - 1)]) * size_of(t.dtype);
  return row % 16 == 0 && reinterpret_cast<std::uintptr_t>(t.data) % 16 == 0;
}

/// Calls f.operator()<turned_a, turned_b>(), where turned means transposed.
template <class F>
void with_turns(const MatmulArgs& x, F&& f) {
  cuda::select<4>(2 * x.transpose_a + x.transpose_b,
                  [&]<int I> { f.template operator()<I / 2 == 1, I % 2 == 1>(); });
}

/// Number of blocks of a plan with tiles of this shape.
template <class Shape>
std::int64_t blocks_of(const MatmulArgs& x, const Shape& shape, const MatmulPlan& plan) {
  const MatmulSizes s(x);
  return s.batch * ((s.m + shape.rows - 1) / shape.rows) * ((s.n + shape.columns - 1) / shape.columns) *
         plan.parts;
}

/// Adds the parts of k. Several threads compute each sum if there are few sums of many parts. The grid is
/// made small where that lets it start early.
template <class T>
void combine_parts(const Gemm<T>& g, Stream& s) {
  if (g.parts == 1) return;
  const std::int64_t size = g.batch * g.m * g.n;
  const auto launch = [&](auto* kernel, int across) {
    const unsigned blocks = cuda::blocks(size, across);
    cuda::launch_early(kernel, blocks <= 4 * 63 ? std::min(blocks, 63u) : blocks, combine_block, 0,
                       cuda::native(s), g);
  };
  if (size * 8 <= 64 * combine_block && g.parts >= 16)
    launch(combine<T, 8>, combine_block / 8);
  else
    launch(combine<T, 1>, combine_block);
}

}  // namespace

namespace on_cuda {

// Each launches the kernel of the plan's shape. The workspace holds the sums of its parts.
void launch_tiles_f32(const MatmulArgs& x, const MatmulPlan& plan, void* workspace, Stream& s);
void launch_tiles_f64(const MatmulArgs& x, const MatmulPlan& plan, void* workspace, Stream& s);
void launch_doubles(const MatmulArgs& x, const MatmulPlan& plan, void* workspace, Stream& s);
/// `before`: sums that are added.
void launch_wmma(const MatmulArgs& x, const MatmulPlan& plan, void* workspace, Stream& s,
                 const float* before = nullptr);
void launch_few_rows(const MatmulArgs& x, Stream& s);
void launch_few_rows_f32(const MatmulArgs& x, Stream& s);
void launch_warpgroups(const MatmulArgs& x, const MatmulPlan& plan, Stream& s, const float* before = nullptr);
void launch_split(const MatmulArgs& x, const MatmulPlan& plan, Arena& scratch, Stream& s);

}  // namespace on_cuda
}  // namespace kolmo
