#pragma once
#include <cmath>
#include <cstdint>

#include "kolmo/base/hd.hpp"

namespace kolmo {

/// Holds, for a part of a row, its largest element and the sum of exp(x - largest), where 0 replaces a
/// `largest` of -inf.
template <class C>
struct Exponentials {
  C largest = C(-HUGE_VAL), sum = 0;

  /// The factor that rescales this sum from exp(x - largest) to exp(x - to).
  KOLMO_HD C weight(C to) const { return largest == C(-HUGE_VAL) ? C(0) : C(std::exp(largest - to)); }
};
template <class C>
KOLMO_HD Exponentials<C> join(const Exponentials<C>& a, const Exponentials<C>& b) {
  const bool first = a.largest > b.largest;
  const C most = first ? a.largest : b.largest, least = first ? b.largest : a.largest,
          factor = C(std::exp(least - (most == C(-HUGE_VAL) ? C(0) : most)));
  return {most, (first ? a.sum : b.sum) + (first ? b.sum : a.sum) * factor};
}

/// CPU functions in vectors. Highway compiles them once for each instruction set; the best one is chosen at
/// run time.
template <class C>
struct SoftmaxFunctions {
  /// e_i = exp(x_i - largest), within 2 ulp; e may be x. NaN or inf in x makes the sum NaN.
  Exponentials<double> (*exponentials)(const C* x, std::int64_t n, C* e);
  /// y_i = e_i factor; y may be e.
  void (*scale)(const C* e, std::int64_t n, C factor, C* y);
};
template <class C>
SoftmaxFunctions<C> softmax_functions();

}  // namespace kolmo
