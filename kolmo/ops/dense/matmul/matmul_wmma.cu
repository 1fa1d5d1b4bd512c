#include "kolmo/ops/dense/matmul/tensor_cores.cuh"

namespace kolmo::on_cuda {

void launch_wmma(const MatmulArgs& x, const MatmulPlan& plan, void* workspace, Stream& s) {
  visit<Half, BFloat16>(x.a.dtype, [&]<class T> { launch_tensor_cores<T>(x, plan, workspace, s); });
}

}  // namespace kolmo::on_cuda
