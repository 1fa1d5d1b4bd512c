#include "kolmo/base/entropy.hpp"
#include "kolmo/device/reduce.cuh"
#include "kolmo/ops/info/shannon_entropy/shannon_entropy.hpp"

namespace kolmo {
namespace {
using A = ShannonEntropyArgs;

constexpr Variant variants[] = {
    {"block above 1024 terms"}, {"block above 256 terms"}, {"block above 2048 terms"}};

std::int64_t row_length(const A& a) { return a.weights.extent[std::size_t(a.weights.rank - 1)]; }

void launch(const A& a, void* workspace, Stream& s, int variant) {
  const std::int64_t k = row_length(a);
  visit<double, float, std::int64_t, std::int32_t>(a.weights.dtype, [&]<class T> {
    const EntropyOfRow done{a.entropy.as<double>(), a.kind == WeightKind::counts, a.miller_madow};
    sum_rows<3>(WeightRows<T>{a.weights.as<T>(), k}, done, a.entropy.size(), k, workspace,
                cuda::SumItems{cuda::native(s), variant});
  });
}

std::size_t workspace(const A& a, int) { return sum_rows_bytes<3>(a.entropy.size(), row_length(a)); }

}  // namespace

extern constinit const CudaImpl shannon_entropy_cuda = cuda_impl<A, launch, workspace>(variants);

}  // namespace kolmo
