#pragma once
#include "kolmo/base/row_terms.hpp"
#include "kolmo/ops/reduce/reduce_sum/reduce_sum.hpp"
#include "kolmo/skeleton/row_sum.hpp"

namespace kolmo {

struct SumOfRow {
  using A = ReduceSumArgs;
  static constexpr int sums = 1;
  using DTypes = ElementTypes<double, float, Half, BFloat16>;
  static const Tensor& element(const A& a) { return a.x; }
  static std::int64_t rows(const A& a) { return a.sum.size(); }
  static std::int64_t length(const A& a) { return a.x.dim(-1); }
  template <class T>
  static ValueRows<T> terms(const A& a) {
    return {a.x.as<T>(), length(a)};
  }
  template <class T>
  static RoundedSum<T> done(const A& a) {
    return {a.sum.as<T>()};
  }
  template <class T>
  static bool packed(const A& a) {
    return packed_rows<T>(rows(a), length(a), a.x.as<T>());
  }
};

}  // namespace kolmo
