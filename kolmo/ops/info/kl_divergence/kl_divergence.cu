#include "kolmo/base/entropy.hpp"
#include "kolmo/device/reduce.cuh"
#include "kolmo/ops/info/kl_divergence/kl_divergence.hpp"

namespace kolmo {
namespace {
using A = KlDivergenceArgs;

constexpr Variant variants[] = {
    {"block above 1024 terms"}, {"block above 256 terms"}, {"block above 2048 terms"}};

std::int64_t row_length(const A& a) { return a.p.extent[std::size_t(a.p.rank - 1)]; }

void launch(const A& a, void* workspace, Stream& s, int variant) {
  const std::int64_t k = row_length(a);
  visit<double, float>(a.p.dtype, [&]<class T> {
    sum_rows<1>(DivergenceRows<T>{a.p.as<T>(), a.q.as<T>(), k}, DivergenceOfRow{a.divergence.as<double>()},
                a.divergence.size(), k, workspace, cuda::SumItems{cuda::native(s), variant});
  });
}

std::size_t workspace(const A& a, int) { return sum_rows_bytes<1>(a.divergence.size(), row_length(a)); }

}  // namespace

extern constinit const CudaImpl kl_divergence_cuda = cuda_impl<A, launch, workspace>(variants);

}  // namespace kolmo
