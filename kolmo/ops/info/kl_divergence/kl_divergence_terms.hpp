#pragma once
#include "kolmo/base/entropy.hpp"
#include "kolmo/ops/info/kl_divergence/kl_divergence.hpp"
#include "kolmo/skeleton/row_sum.hpp"

namespace kolmo {

struct Divergence {
  using A = KlDivergenceArgs;
  static constexpr int sums = 1;
  using DTypes = ElementTypes<double, float>;
  static const Tensor& element(const A& a) { return a.p; }
  static std::int64_t rows(const A& a) { return a.divergence.size(); }
  static std::int64_t length(const A& a) { return a.p.dim(-1); }
  template <class T>
  static DivergenceRows<T> terms(const A& a) {
    return {a.p.as<T>(), a.q.as<T>(), length(a)};
  }
  template <class T>
  static DivergenceOfRow done(const A& a) {
    return {a.divergence.as<double>()};
  }
};

}  // namespace kolmo
