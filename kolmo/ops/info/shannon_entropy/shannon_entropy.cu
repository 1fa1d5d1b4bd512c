#include "kolmo/base/entropy.hpp"
#include "kolmo/device/reduce.cuh"
#include "kolmo/ops/info/shannon_entropy/shannon_entropy.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {
using A = ShannonEntropyArgs;

constexpr std::int64_t block_above[] = {1024, 256, sum_chunk};
constexpr Variant variants[] = {
    {"block above 1024 terms"}, {"block above 256 terms"}, {"block above 2048 terms"}};

std::int64_t row_length(const A& a) { return a.weights.extent[std::size_t(a.weights.rank - 1)]; }

void launch(const A& a, void* workspace, Stream& s, int variant) {
  const auto run = [&]<class Job>(const Job& job, std::int64_t items, std::int64_t terms) {
    cuda::select<std::size(cuda::sum_shapes)>(cuda::sum_shape(terms, block_above[variant]), [&]<int V> {
      cuda::launch(cuda::sum_items<V, Job>, cuda::sum_blocks<V>(items), cuda::sum_block, 0, cuda::native(s),
                   job, items);
    });
  };
  const std::int64_t k = row_length(a);
  visit<double, float, std::int64_t, std::int32_t>(a.weights.dtype, [&]<class T> {
    const EntropyOfRow done{a.entropy.as<double>(), a.kind == WeightKind::counts, a.miller_madow};
    sum_rows<3>(WeightRows<T>{a.weights.as<T>(), k}, done, a.entropy.size(), k, workspace, run);
  });
}

std::size_t workspace(const A& a, int) { return sum_rows_bytes<3>(a.entropy.size(), row_length(a)); }

}  // namespace

extern constinit const CudaImpl shannon_entropy_cuda = cuda_impl<A, launch, workspace>(variants);

}  // namespace kolmo
