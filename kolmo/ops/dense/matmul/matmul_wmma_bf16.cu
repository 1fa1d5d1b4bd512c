#include "kolmo/ops/dense/matmul/tensor_cores.cuh"

namespace kolmo::on_cuda {

void launch_wmma_bf16(const MatmulArgs& x, const MatmulPlan& plan, void* workspace, Stream& s) {
  launch_tensor_cores<BFloat16>(x, plan, workspace, s);
}

}  // namespace kolmo::on_cuda
