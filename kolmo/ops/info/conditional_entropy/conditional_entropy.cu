#include "kolmo/base/entropy.hpp"
#include "kolmo/device/small_tables.cuh"
#include "kolmo/ops/info/conditional_entropy/conditional_entropy.hpp"
#include "kolmo/skeleton/row_sum.cuh"

namespace kolmo {
namespace {
using A = ConditionalEntropyArgs;

TableShape shape_of(const A& a) { return {a.joint.rank, a.joint.extent.data()}; }

void launch(const A& a, Arena scratch, Stream& s, int row) {
  visit<double, float, std::int64_t, std::int32_t>(a.joint.dtype, [&]<class T> {
    const ConditionalEntropyOfTable done{a.entropy.as<double>(), a.miller_madow, s.status()};
    const TableShape shape = shape_of(a);
    if (!cuda::sum_if_small<false>(a.joint.as<T>(), shape, done, cuda::native(s)))
      sum_tables<false>(a.joint.as<T>(), shape, done, TableScratch(scratch, shape),
                        cuda::SumItems{cuda::native(s), cuda::row_sum_rows[row].config});
  });
}

}  // namespace

extern constinit const Impl<A> conditional_entropy_cuda{
    {.rows = cuda::row_sum_rows, .launch = launch, .lay = [](Arena& arena, const A& a, const Site&) {
       TableScratch(arena, shape_of(a));
     }}};

}  // namespace kolmo
