#ifndef SIMT
#include <algorithm>

#include "kolmo/device/spread.cuh"
#include "kolmo/ops/dense/matmul/launches.cuh"
#include "kolmo/ops/dense/matmul/warpgroup_tiles.cuh"
#include "kolmo/runtime/cuda/tensor_copies.hpp"

namespace kolmo {
namespace {

/// Describes a factor to the copy engine. `others` is the extent of its index other than k; a box has `rows`
/// of these. Along: k is contiguous in memory.
cuda::TensorMap boxes_of(const MatmulArgs& x, const Tensor& t, bool along, std::int64_t others, int rows) {
  const MatmulSizes s(x);
  if (along) return cuda::tensor_map({t.data, s.batch, others, s.k, rows});
  return cuda::tensor_map({t.data, s.batch, s.k, others, WarpgroupShape::depth});
}

template <int Shape>
void launch_shape(const MatmulArgs& x, Stream& s, const float* before) {
  constexpr WarpgroupShape shape = warpgroup_shapes[Shape];
  const MatmulSizes of(x);
  const std::int64_t clusters = clusters_of(x, shape);
  const auto at_once = std::int64_t(cuda::multiprocessors(x.y.device.index)) / shape.cluster;
  const auto blocks = unsigned(std::min(clusters, at_once) * shape.cluster);
  const cuda::TensorMap a = boxes_of(x, x.a, !x.transpose_a, of.m, shape.rows),
                        b = boxes_of(x, x.b, x.transpose_b, of.n, shape.columns / shape.cluster);
  const Writing writing = writing_of(whole_packs(x.y), x.bias, adds_c(x) || before);
  visit<Half, BFloat16>(x.a.dtype, [&]<class T> {
    Gemm<T> g = gemm_of<T>(x);
    g.before = before;
    with_turns(x, [&]<bool A, bool B> {
      cuda::launch_spread(warpgroup_tiles<T, Shape, MatrixSource<A, B>>, blocks, shape.threads(),
                          WarpgroupMemory<Shape>::bytes, s, g, writing, clusters, MatrixSource<A, B>{a, b});
    });
  });
}

}  // namespace

void on_cuda::launch_warpgroups(const MatmulArgs& x, const MatmulPlan& plan, Stream& s, const float* before) {
  cuda::select<matmul_warpgroup_shapes>(plan.shape, [&]<int I> { launch_shape<I>(x, s, before); });
}

}  // namespace kolmo
#endif
