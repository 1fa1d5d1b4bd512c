#include "kolmo/ops/dense/matmul/tiles.cuh"

namespace kolmo::on_cuda {

void launch_tiles_f32(const MatmulArgs& x, const MatmulPlan& plan, void* workspace, Stream& s) {
  launch_tiles<float, 0, f32_tile_shapes>(x, plan, workspace, s);
}

}  // namespace kolmo::on_cuda
