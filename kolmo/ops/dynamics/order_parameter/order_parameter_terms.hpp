#pragma once
#include <cmath>

#include "kolmo/ops/dynamics/order_parameter/order_parameter.hpp"
#include "kolmo/skeleton/row_sum.hpp"

namespace kolmo {

struct MeanVector {
  double *r, *psi;
  double n;
  KOLMO_HD void operator()(std::int64_t row, const Sums<2>& s) const {
    r[row] = one_nan(std::hypot(s.value[0], s.value[1]) / n);
    psi[row] = one_nan(n > 0 ? std::atan2(s.value[1], s.value[0]) : r[row]);
  }
};

/// Sums unit vectors. Rows<T> gives the vectors of rows of phases: cos theta and sin theta.
template <template <class> class Rows>
struct OrderSums {
  using A = OrderParameterArgs;
  static constexpr int sums = 2;
  using DTypes = ElementTypes<double, float>;
  static const Tensor& element(const A& a) { return a.theta; }
  static std::int64_t rows(const A& a) { return a.r.size(); }
  static std::int64_t length(const A& a) { return a.theta.dim(-1); }
  template <class T>
  static Rows<T> terms(const A& a) {
    return {a.theta.as<T>(), length(a)};
  }
  template <class T>
  static MeanVector done(const A& a) {
    return {a.r.as<double>(), a.psi.as<double>(), double(length(a))};
  }
};

}  // namespace kolmo
