#pragma once
#include <cstdint>

#include "kolmo/base/activation.hpp"

namespace kolmo {

/// Of n elements: their mean, and the sum of the squares of their differences from it.
struct RowMoments {
  double n, mean, squares;
};

/// In vectors of double.
RowMoments row_moments(const double* x, std::int64_t n);
RowMoments row_moments(const float* x, std::int64_t n);

/// What elements become, which is computed in double: activation((x - mean) rstd scale + shift). `scale` and
/// `shift` may be null.
template <class T>
struct Normalisation {
  double mean, rstd;
  const T *scale, *shift;
  Activation activation;
};

/// In vectors; y may be x. gelu is within 16 roundings of double.
void normalise(const Normalisation<double>& f, const double* x, std::int64_t n, double* y);
void normalise(const Normalisation<float>& f, const float* x, std::int64_t n, float* y);

}  // namespace kolmo
