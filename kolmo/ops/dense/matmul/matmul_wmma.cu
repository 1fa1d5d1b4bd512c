#include "kolmo/ops/dense/matmul/few_rows.cuh"
#include "kolmo/ops/dense/matmul/tensor_cores.cuh"

namespace kolmo::on_cuda {

void launch_wmma(const MatmulArgs& x, const MatmulPlan& plan, void* workspace, Stream& s,
                 const float* before) {
  visit<Half, BFloat16>(x.a.dtype, [&]<class T> { launch_tensor_cores<T>(x, plan, workspace, s, before); });
}

void launch_few_rows(const MatmulArgs& x, Stream& s) {
  visit<Half, BFloat16>(x.a.dtype, [&]<class T> {
    const Gemm<T> g = gemm_of<T>(x);
    const auto blocks = unsigned(blocks_of(x, FewRows{}, {}));
    const auto launch = [&](auto* kernel) {
      cuda::launch_spread(kernel, blocks, FewRows::warps * 32, 0, s, g, !x.transpose_a && whole_packs(x.a),
                          x.transpose_a ? 1 : g.k, x.transpose_a ? g.m : 1);
    };
    x.transpose_b ? launch(few_rows<T, true>) : launch(few_rows<T, false>);
  });
}

}  // namespace kolmo::on_cuda
