#pragma once
#include "kolmo/base/entropy.hpp"
#include "kolmo/ops/info/shannon_entropy/shannon_entropy.hpp"
#include "kolmo/skeleton/row_sum.hpp"

namespace kolmo {

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
