#include "kolmo/ops/dense/matmul/launches.cuh"
#include "kolmo/ops/dense/matmul/split.cuh"

namespace kolmo {
namespace {

template <bool Left>
void split_chunk(const MatmulArgs& x, void* parts, int from, int depth, Stream& s) {
  const MatmulSizes of(x);
  const std::int64_t extent = Left ? of.m : of.n;
  const auto blocks =
      unsigned(of.batch * ((extent + split_extent - 1) / split_extent) * (depth / split_depth));
  const auto launch = [&](auto* kernel) {
    cuda::launch(kernel, blocks, split_block, 0, cuda::native(s), (Left ? x.a : x.b).template as<float>(),
                 static_cast<BFloat16*>(parts), int(extent), int(of.k), from, depth);
  };
  const bool turned = Left ? x.transpose_a : !x.transpose_b;
  turned ? launch(split_factor<true, Left>) : launch(split_factor<false, Left>);
}

/// The arguments of a product of bf16 that adds a chunk.
MatmulArgs product_of(const MatmulArgs& x, const MatmulSplit& split, std::int64_t depth) {
  const MatmulSizes of(x);
  const auto factor = [&](void* parts, std::int64_t extent) {
    return tensor(parts, DType::bf16, std::array{of.batch, extent, MatmulSplit::products * depth},
                  x.y.device);
  };
  return {.a = factor(split.a, of.m),
          .b = factor(split.b, of.n),
          .y = tensor(split.sums, DType::f32, std::array{of.batch, of.m, of.n}, x.y.device),
          .transpose_b = true,
          .output = MatmulOutput::f32};
}

}  // namespace

void on_cuda::launch_split(const MatmulArgs& x, const MatmulPlan& plan, Arena& scratch, Stream& s) {
  const MatmulSplit split(scratch, x);
  const std::int64_t k = MatmulSizes(x).k;
  for (std::int64_t from = 0; from < k; from += MatmulSplit::chunk) {
    const std::int64_t depth = MatmulSplit::depth_of(std::min(k - from, MatmulSplit::chunk));
    split_chunk<true>(x, split.a, int(from), int(depth), s);
    split_chunk<false>(x, split.b, int(from), int(depth), s);
    const MatmulArgs product = product_of(x, split, depth);
    const auto* const before = from ? static_cast<const float*>(split.sums) : nullptr;
#ifndef SIMT
    if (plan.engine == MatmulPlan::split_warpgroups) {
      launch_warpgroups(product, plan, s, before);
      continue;
    }
#endif
    launch_wmma(product, plan, nullptr, s, before);
  }
  if (!MatmulSplit::is_plain(x)) {
    const std::int64_t size = x.y.size();
    cuda::launch_early(combine<float, 1>, cuda::blocks(size, combine_block), combine_block, 0,
                       cuda::native(s), gemm_of<float>(x, 1, split.sums));
  }
}

}  // namespace kolmo
