#include "kolmo/ops/dense/matmul/double_tiles.cuh"
#include "kolmo/ops/dense/matmul/tiles.cuh"

namespace kolmo::on_cuda {

void launch_tiles_f64(const MatmulArgs& x, const MatmulPlan& plan, void* workspace, Stream& s) {
  launch_tiles<double, f32_tile_shapes, int(std::size(tile_shapes)) - f32_tile_shapes>(x, plan, workspace, s);
}

void launch_doubles(const MatmulArgs& x, const MatmulPlan& plan, void* workspace, Stream& s) {
  const Gemm<double> g = gemm_of<double>(x, plan.parts, workspace);
  cuda::select<int(std::size(double_tile_shapes))>(plan.shape, [&]<int I> {
    constexpr DoubleTileShape shape = double_tile_shapes[I];
    with_turns(x, [&]<bool A, bool B> {
      cuda::launch_spread(double_tiles<I, A, B>, unsigned(blocks_of(x, shape, plan)), shape.threads(),
                          sizeof(DoublePieces<I, A, B>), s, g, whole_packs(x.a) && whole_packs(x.b),
                          whole_packs(x.y));
    });
  });
  combine_parts(g, s);
}

}  // namespace kolmo::on_cuda
