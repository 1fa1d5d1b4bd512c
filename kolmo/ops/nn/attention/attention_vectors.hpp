#pragma once
#include <cstdint>

#include "kolmo/base/half.hpp"

namespace kolmo {

/// Functions in CPU vectors. They are compiled once per instruction set, and chosen at run time.
template <class C>
struct AttentionVectors {
  struct Weights {
    C largest;
    double sum;
  };
  /// Replaces x_i by exp(x_i - largest), within 2 ulp, where `largest` is the largest of x and `most`;
  /// returns this and the sum. If it is -inf, every x_i becomes 0. NaN or inf in x makes the sum NaN.
  Weights (*weigh)(C* x, std::int64_t n, C most);
  /// Multiplies each x_i by `factor`.
  void (*scale)(C* x, std::int64_t n, C factor);
};
template <class C>
AttentionVectors<C> attention_vectors();

/// Converts n elements to floats.
void widen(const Half* from, std::int64_t n, float* to);
void widen(const BFloat16* from, std::int64_t n, float* to);

}  // namespace kolmo
