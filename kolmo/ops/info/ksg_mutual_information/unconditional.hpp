#pragma once
#include "kolmo/op/inside.hpp"
#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"
#include "kolmo/ops/info/ksg_mutual_information/ksg_mutual_information.hpp"

namespace kolmo {

/// Returns the arguments of the equivalent conditional mutual information, which has no condition.
inline KsgConditionalMutualInformationArgs unconditional(const KsgMutualInformationArgs& a) {
  KsgConditionalMutualInformationArgs c{
      .x = a.x,
      .y = a.y,
      .time = a.time,
      .value = tensor(a.value.as<double>(), {1, a.x.dim(0), 1 + a.surrogates}, a.value.device),
      .local = a.local};
  copy_ksg_options(c, a);
  return c;
}

inline void lay_unconditional(Arena& arena, const KsgMutualInformationArgs& a, const Site& site) {
  const KsgConditionalMutualInformationArgs inner = unconditional(a);
  lay_inside(ksg_conditional_mutual_information, &inner, arena, site);
}

/// Checks the data by `check_finite(fault, tensor)`, then estimates.
template <class Check>
void run_unconditional(const KsgMutualInformationArgs& a, Arena scratch, Stream& stream,
                       const Check& check_finite) {
  check_finite(int(KsgFault::x), a.x), check_finite(int(KsgFault::y), a.y);
  const KsgConditionalMutualInformationArgs inner = unconditional(a);
  run_inside(ksg_conditional_mutual_information, &inner, scratch, stream);
}

}  // namespace kolmo
