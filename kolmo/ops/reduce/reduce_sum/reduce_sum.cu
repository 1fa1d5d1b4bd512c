#include "kolmo/base/row_terms.hpp"
#include "kolmo/device/reduce.cuh"
#include "kolmo/ops/reduce/reduce_sum/reduce_sum.hpp"

namespace kolmo {
namespace {
using A = ReduceSumArgs;

constexpr Variant variants[] = {{"16-byte loads, block 256"}, {"16-byte loads, block 128"},
                                {"16-byte loads, block 512"}, {"block above 1024 terms"},
                                {"block above 2048 terms"},   {.name = "block per row", .naive = true}};
static_assert(std::size(variants) == std::size(cuda::sum_plans));

std::int64_t row_length(const A& a) { return a.x.extent[std::size_t(a.x.rank - 1)]; }

void launch(const A& a, void* workspace, Stream& s, int variant) {
  const std::int64_t rows = a.sum.size(), k = row_length(a);
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    const T* x = a.x.as<T>();
    cuda::sum_rows_by<1, T>(variant, packed_rows<T>(rows, k, x), ValueRows<T>{x, k},
                            RoundedSum<T>{a.sum.as<T>()}, rows, k, workspace, s);
  });
}

std::size_t workspace(const A& a, int) { return sum_rows_bytes<1>(a.sum.size(), row_length(a)); }

}  // namespace

extern constinit const CudaImpl reduce_sum_cuda = cuda_impl<A, launch, workspace>(variants);

}  // namespace kolmo
