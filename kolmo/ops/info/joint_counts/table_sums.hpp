#pragma once
#include "kolmo/base/arena.hpp"
#include "kolmo/base/entropy.hpp"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/info/joint_counts/joint_counts.hpp"

namespace kolmo {

/// What the operators differ in: whether they need the sums of columns, and what they make of those of a table.
template <class Args>
struct OfTables {
  using A = Args;
  template <class F>
  static void visit_type(const A& a, F&& f) {
    visit<double, float, std::int64_t, std::int32_t>(a.joint.dtype, f);
  }
};
struct ConditionalEntropy : OfTables<ConditionalEntropyArgs> {
  static constexpr bool with_columns = false;
  static ConditionalEntropyOfTable done(const A& a, Status status) {
    return {a.entropy.as<double>(), a.miller_madow, status};
  }
};
struct MutualInformation : OfTables<MutualInformationArgs> {
  static constexpr bool with_columns = true;
  static MutualInformationOfTable done(const A& a, Status status) {
    return {a.information.as<double>(), a.miller_madow, status};
  }
};

template <class A>
TableShape table_shape(const A& a) {
  return {a.joint.rank, a.joint.extent.data()};
}
template <class A>
void lay_tables(Arena& arena, const A& a, const Site&) {
  TableScratch(arena, table_shape(a));
}

}  // namespace kolmo
