#include "kolmo/device/small_tables.cuh"
#include "kolmo/ops/info/joint_counts/joint_counts_terms.hpp"
#include "kolmo/skeleton/row_sum.cuh"

namespace kolmo {
namespace {

template <class Of>
void launch(const typename Of::A& a, Arena scratch, Stream& s, int row) {
  Of::visit_type(a, [&]<class T> {
    const T* const joint = a.joint.template as<T>();
    const auto done = Of::done(a, s.status());
    const TableShape shape = table_shape(a);
    if (!cuda::sum_if_small<Of::with_columns>(joint, shape, done, cuda::native(s)))
      sum_tables<Of::with_columns>(joint, shape, done, TableScratch(scratch, shape),
                                   cuda::SumItems{cuda::native(s), cuda::row_sum_rows[row].config});
  });
}
template <class Of>
constexpr Impl<typename Of::A> impl{
    {.rows = cuda::row_sum_rows, .launch = launch<Of>, .lay = lay_tables<typename Of::A>}};

}  // namespace

extern constinit const Impl<ConditionalEntropyArgs> conditional_entropy_cuda = impl<ConditionalEntropy>;
extern constinit const Impl<MutualInformationArgs> mutual_information_cuda = impl<MutualInformation>;

}  // namespace kolmo
