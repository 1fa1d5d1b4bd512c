#pragma once
#include <cstdint>

namespace kolmo {

/// A part of a row: the sum of exp(x - largest), where `largest` counts as 0 if it is -inf.
struct Exponentials {
  double largest, sum;
};

/// e_i = exp(x_i - largest), within 2 ulp, in vectors; e may be x. NaN, and inf, make the sum NaN.
Exponentials exponentials(const double* x, std::int64_t n, double* e);
Exponentials exponentials(const float* x, std::int64_t n, float* e);

/// e_i *= factor, in vectors.
void scale(double* e, std::int64_t n, double factor);
void scale(float* e, std::int64_t n, float factor);

}  // namespace kolmo
