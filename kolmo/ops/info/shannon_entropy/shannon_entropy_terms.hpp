#pragma once
#include "kolmo/base/entropy.hpp"
#include "kolmo/ops/info/shannon_entropy/shannon_entropy.hpp"
#include "kolmo/skeleton/row_sum.hpp"

namespace kolmo {

/// Stores the entropy of a row, from the sums of WeightRows. Counts: ln N - (sum w ln w) / N with N = sum w,
/// and 0 for a single weight. Miller-Madow adds (K - 1) / (2 N) with K the number of w > 0.
/// Probabilities: - sum w ln w.
struct EntropyOfRow {
  double* entropy;
  bool counts, miller_madow;
  Status status = {};

  KOLMO_HD void operator()(std::int64_t row, const Sums<3>& s) const {
    const double total = s.value[0], log_sum = s.value[1], nonzero = s.value[2];
    report_weights(status, row, log_sum, counts ? total : 1);
    double h = 0 - log_sum;
    if (counts) {
      h = not_below_zero(exact_add(log_exact(total), -(log_sum / total)));
      if (nonzero == 1 && h == h) h = 0;
      if (miller_madow) h = exact_add(h, (nonzero - 1) / exact_mul(2, total));
    }
    entropy[row] = one_nan(h);
  }
};

struct EntropySums {
  using A = ShannonEntropyArgs;
  static constexpr int sums = 3;
  using DTypes = ElementTypes<double, float, std::int64_t, std::int32_t>;
  static const Tensor& element(const A& a) { return a.weights; }
  static std::int64_t rows(const A& a) { return a.entropy.size(); }
  static std::int64_t length(const A& a) { return a.weights.dim(-1); }
  template <class T>
  static WeightRows<T> terms(const A& a) {
    return {a.weights.as<T>(), length(a)};
  }
  template <class T>
  static EntropyOfRow done(const A& a) {
    return {a.entropy.as<double>(), a.kind == WeightKind::counts, a.miller_madow};
  }
};

}  // namespace kolmo
