#pragma once
#include <cstdint>

#include "kolmo/base/activation.hpp"
#include "kolmo/base/hd.hpp"

namespace kolmo {

/// The mean of n elements, and the sum of the squares of their differences from the mean.
template <class C>
struct Moments {
  C n = 0, mean = 0, squares = 0;
};
/// Combines the moments of two parts. Source: Chan, Golub & LeVeque 1979.
template <class C>
KOLMO_HD Moments<C> join(const Moments<C>& a, const Moments<C>& b) {
  if (a.n == 0) return b;  // d * d may be infinite, and times 0 is NaN
  if (b.n == 0) return a;
  const C n = a.n + b.n, d = b.mean - a.mean, share = b.n / n;
  return {n, a.mean + d * share, a.squares + b.squares + d * d * a.n * share};
}

/// The map applied to elements: activation((x - mean) rstd scale + shift). `scale` and `shift` may be null.
template <class C>
struct Normalisation {
  double mean, rstd;
  const C *scale, *shift;
  Activation activation;
};

/// Functions in CPU vectors. They are compiled once per instruction set, and chosen at run time. Moments are
/// computed in double.
template <class C>
struct LayerNormFunctions {
  Moments<double> (*moments)(const C* x, std::int64_t n);
  /// Computes in the type C; y may be x.
  void (*normalise)(const Normalisation<C>& f, const C* x, std::int64_t n, C* y);
};
template <class C>
LayerNormFunctions<C> layer_norm_functions();

}  // namespace kolmo
