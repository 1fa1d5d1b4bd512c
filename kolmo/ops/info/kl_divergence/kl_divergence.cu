#include "kolmo/base/entropy.hpp"
#include "kolmo/device/reduce.cuh"
#include "kolmo/ops/info/kl_divergence/kl_divergence.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {
using A = KlDivergenceArgs;

constexpr std::int64_t block_above[] = {1024, 256, sum_chunk};
constexpr Variant variants[] = {
    {"block above 1024 terms"}, {"block above 256 terms"}, {"block above 2048 terms"}};

std::int64_t row_length(const A& a) { return a.p.extent[std::size_t(a.p.rank - 1)]; }

void launch(const A& a, void* workspace, Stream& s, int variant) {
  const auto run = [&]<class Job>(const Job& job, std::int64_t items, std::int64_t terms) {
    cuda::select<std::size(cuda::sum_shapes)>(cuda::sum_shape(terms, block_above[variant]), [&]<int V> {
      cuda::launch(cuda::sum_items<V, Job>, cuda::sum_blocks<V>(items), cuda::sum_block, 0, cuda::native(s),
                   job, items);
    });
  };
  const std::int64_t k = row_length(a);
  visit<double, float>(a.p.dtype, [&]<class T> {
    sum_rows<1>(DivergenceRows<T>{a.p.as<T>(), a.q.as<T>(), k}, DivergenceOfRow{a.divergence.as<double>()},
                a.divergence.size(), k, workspace, run);
  });
}

std::size_t workspace(const A& a, int) { return sum_rows_bytes<1>(a.divergence.size(), row_length(a)); }

}  // namespace

extern constinit const CudaImpl kl_divergence_cuda = cuda_impl<A, launch, workspace>(variants);

}  // namespace kolmo
