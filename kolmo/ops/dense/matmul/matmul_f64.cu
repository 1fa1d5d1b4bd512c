#include "kolmo/ops/dense/matmul/double_tiles.cuh"

namespace kolmo::on_cuda {

void launch_doubles(const MatmulArgs& x, const MatmulPlan& plan, void* workspace, Stream& s) {
  const Gemm<double> g = gemm_of<double>(x, plan.parts, workspace);
  cuda::select<int(std::size(double_tile_shapes))>(plan.shape, [&]<int I> {
    constexpr DoubleTileShape shape = double_tile_shapes[I];
    with_turns(x, [&]<bool A, bool B> {
      cuda::launch(double_tiles<I, A, B>, unsigned(blocks_of(x, shape, plan)), shape.threads(),
                   sizeof(DoublePieces<I, A, B>), cuda::native(s), g, whole_packs(x.a) && whole_packs(x.b),
                   whole_packs(x.y));
    });
  });
  combine_parts(g, s);
}

}  // namespace kolmo::on_cuda
