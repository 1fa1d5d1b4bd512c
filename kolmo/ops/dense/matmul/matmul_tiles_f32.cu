#include "kolmo/ops/dense/matmul/few_rows_f32.cuh"
#include "kolmo/ops/dense/matmul/few_rows_f32_turned.cuh"
#include "kolmo/ops/dense/matmul/tiles.cuh"

namespace kolmo::on_cuda {

void launch_tiles_f32(const MatmulArgs& x, const MatmulPlan& plan, void* workspace, Stream& s) {
  launch_tiles<float, 0, f32_tile_shapes>(x, plan, workspace, s);
}

void launch_few_rows_f32(const MatmulArgs& x, Stream& s) {
  const Gemm<float> g = gemm_of<float>(x);
  const std::int64_t of_row = x.transpose_a ? 1 : g.k, of_k = x.transpose_a ? g.m : 1;
  cuda::select<2>(!x.transpose_a && whole_packs(x.a), [&]<int I> {
    constexpr bool packs_a = I == 1;
    if (x.transpose_b)
      return cuda::launch(turned_few_rows_f32<packs_a>, unsigned(blocks_of(x, TurnedFewRowsF32{}, {})),
                          TurnedFewRowsF32::warps * 32, sizeof(TurnedFewRowsF32Space), cuda::native(s), g,
                          of_row, of_k);
    using S = FewRowsF32;
    const auto strips = unsigned(blocks_of(x, S{}, {}));
    constexpr int block = S::warps * 32;
    static const bool has_clusters = cuda::clusters_fit(x.y.device.index, few_rows_f32<packs_a>,
                                                        S::most_ranks, block, S::bytes(S::many_stages));
    if (const int ranks = has_clusters ? ranks_of(x) : 1; ranks > 1)
      return cuda::launch_clusters(few_rows_f32<packs_a>, ranks, strips, block, S::bytes(S::many_stages),
                                   cuda::native(s), g, of_row, of_k, S::many_stages);
    const int stages = has_clusters ? S::many_stages : S::few_stages;
    cuda::launch(few_rows_f32<packs_a>, strips, block, S::bytes(stages), cuda::native(s), g, of_row, of_k,
                 stages);
  });
}

}  // namespace kolmo::on_cuda
