#pragma once
#include "kolmo/base/arena.hpp"
#include "kolmo/base/entropy.hpp"
#include "kolmo/base/log.hpp"
#include "kolmo/base/status.hpp"
#include "kolmo/base/table_sums.hpp"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/info/joint_counts/joint_counts.hpp"

namespace kolmo {

/// Stores H(Y|X) = sum_x (w_x ln w_x - sum_y w_xy ln w_xy) / N. Miller-Madow adds (K_xy - K_x) / (2 N).
struct ConditionalEntropyOfTable {
  double* entropy;
  bool miller_madow;
  Status status = {};

  KOLMO_HD void operator()(std::int64_t table, const Sums<5>& s) const {
    report_weights(status, table, s.value[1], s.value[0]);
    const double h = not_below_zero(s.value[1] / s.value[0]);
    entropy[table] = one_nan(miller_madow ? exact_add(h, s.value[2] / exact_mul(2, s.value[0])) : h);
  }
};

/// Stores I(X;Y) = H(Y) - H(Y|X). Miller-Madow adds (K_x + K_y - K_xy - 1) / (2 N).
struct MutualInformationOfTable {
  double* information;
  bool miller_madow;
  Status status = {};

  KOLMO_HD void operator()(std::int64_t table, const Sums<5>& s) const {
    const auto& [total, conditional, bins_less_rows, column_log_sum, columns] = s.value;
    report_weights(status, table, conditional, total);
    const double mi =
        not_below_zero(exact_add(log_exact(total), -exact_add(column_log_sum, conditional) / total));
    const double correction = (columns - 1 - bins_less_rows) / exact_mul(2, total);
    information[table] = one_nan(miller_madow ? exact_add(mi, correction) : mi);
  }
};

/// How the two operators differ: whether they need the sums of columns, and what they compute from the sums
/// of a table.
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
