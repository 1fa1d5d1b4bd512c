#pragma once
#include <cstdint>

#include "kolmo/base/half.hpp"

namespace kolmo {

/// CPU functions in vectors, compiled per instruction set and chosen at run time.
template <class C>
struct AttentionVectors {
  struct Weights {
    C largest;
    double sum;
  };
  /// x_i becomes exp(x_i - largest), within 2 ulp, where `largest` is that of x and `most`; the sum of these. If both
  /// are -inf, every x_i becomes 0. NaN or inf in x makes the sum NaN.
  Weights (*weigh)(C* x, std::int64_t n, C most);
  /// x_i *= factor
  void (*scale)(C* x, std::int64_t n, C factor);
};
template <class C>
AttentionVectors<C> attention_vectors();

/// n elements as floats.
void widen(const Half* from, std::int64_t n, float* to);
void widen(const BFloat16* from, std::int64_t n, float* to);

}  // namespace kolmo
