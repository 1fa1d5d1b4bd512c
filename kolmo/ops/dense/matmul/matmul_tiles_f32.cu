#include "kolmo/ops/dense/matmul/few_rows_f32.cuh"
#include "kolmo/ops/dense/matmul/tiles.cuh"
#ifndef SIMT
#include "kolmo/runtime/cuda/tensor_copies.hpp"
#endif

namespace kolmo::on_cuda {

void launch_tiles_f32(const MatmulArgs& x, const MatmulPlan& plan, void* workspace, Stream& s) {
  launch_tiles<float, 0, f32_tile_shapes>(x, plan, workspace, s);
}

void launch_few_rows_f32(const MatmulArgs& x, Stream& s) {
  const Gemm<float> g = gemm_of<float>(x);
#ifdef SIMT
  constexpr int stages = FewRowsF32::few_stages;
#else
  const int stages = cuda::is_hopper(x.y.device.index) ? FewRowsF32::many_stages : FewRowsF32::few_stages;
#endif
  cuda::select<4>(2 * (!x.transpose_a && whole_packs(x.a)) + x.transpose_b, [&]<int I> {
    cuda::launch_spread(few_rows_f32<I / 2 == 1, I % 2 == 1>, unsigned(blocks_of(x, FewRowsF32{}, {})),
                        FewRowsF32::warps * 32, few_rows_bytes(stages), s, g,
                        std::int64_t(x.transpose_a ? 1 : g.k), std::int64_t(x.transpose_a ? g.m : 1), stages);
  });
}

}  // namespace kolmo::on_cuda
