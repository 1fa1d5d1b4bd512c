#pragma once
#include "kolmo/base/log.hpp"

namespace kolmo {
namespace detail {

KOLMO_NUMBERS(digamma_series, 0.951055876031833, -0.21181371064073026, 0.06013562106019355,
              -0.018550615381738605, 0.005936795278433826, -0.0019350666647832667, 0.000636888028319074,
              -0.00021074841215733007, 6.995020484160625e-05, -2.325823828431376e-05, 7.741156881253708e-06,
              -2.578107848270217e-06, 8.591324222417666e-07, -2.8628755280038686e-07, 9.500926192924096e-08,
              -3.166618072027162e-08, 1.10370884388543e-08, -3.6788868183645545e-09, 8.668257373761658e-10,
              -2.889363639216111e-10, 2.4765474440031764e-10, -8.25512972008104e-11)
/// Coefficients of the asymptotic series: B_2k / (2k) with the Bernoulli numbers B_2k.
KOLMO_NUMBERS(asymptotic_series, 1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132, -691. / 32760, 1. / 12,
              -3617. / 8160)

/// psi on [1, 2]: (x - x0) times the polynomial in t = 2x - 3 that interpolates psi(x) / (x - x0) at 22
/// Chebyshev nodes (relative error 2e-17). x0 is the positive zero of psi, stored in two parts to keep the
/// relative accuracy near it.
KOLMO_HD constexpr double digamma_1_2(double x) {
  constexpr double zero_high = 0x1.762d86356be3fp+0, zero_low = 0x1.b86a722197829p-54;
  const double quotient = exact_polynomial(exact_add(exact_mul(2, x), -3), digamma_series());
  return exact_mul(exact_add(exact_add(x, -zero_high), -zero_low), quotient);
}

KOLMO_HD constexpr double exact_inverse(double x) {
  return is_between<-900, 900>(x) ? exact_quotient(1, x) : 1 / x;
}

KOLMO_HD constexpr double digamma_positive(double x) {
  if (x < 1) return exact_add(digamma_1_2(exact_add(x, 1)), -exact_inverse(x));
  // psi(x) = psi(y) + 1/y + 1/(y+1) + ... + 1/(x-1) with y = x - floor(x) + 1. The sum is computed as one
  // quotient.
  if (x < 10) {
    double numerator = 0, denominator = 1;
    while (x >= 2) {
      x -= 1;
      numerator = exact_add(exact_mul(numerator, x), denominator);
      denominator = exact_mul(denominator, x);
    }
    return exact_add(digamma_1_2(x), exact_quotient(numerator, denominator));
  }
  // ln x - 1/(2x) - sum B_2k / (2k x^2k): truncation after eight terms errs by less than 4e-18.
  const double inverse = exact_inverse(x), z = exact_mul(inverse, inverse);
  const double series = exact_polynomial(z, asymptotic_series());
  return exact_add(log_exact(x), -exact_add(exact_mul(0.5, inverse), exact_mul(z, series)));
}

/// pi cot(pi x) for x < 0 that is not an integer.
KOLMO_HD constexpr double pi_cotangent(double x) {
  constexpr double pi = 0x1.921fb54442d18p+1;
  double r = x - double(std::int64_t(x));  // exact, in (-1, 0)
  if (r < -0.5) r += 1;                    // cot has period 1 in x: r in [-1/2, 1/2]
  const double distance = r < 0 ? -r : r;
  const bool near_pole = distance <= 0.25;
  const double angle = exact_mul(pi, near_pole ? distance : 0.5 - distance), z = exact_mul(angle, angle);
  // Taylor series; the angle is at most pi/4.
  const double sine =
      exact_mul(angle, exact_polynomial(z, 1, -1. / 6, 1. / 120, -1. / 5040, 1. / 362880, -1. / 39916800,
                                        1. / 6227020800, -1. / 1307674368000, 1. / 355687428096000));
  const double cosine = exact_polynomial(z, 1, -1. / 2, 1. / 24, -1. / 720, 1. / 40320, -1. / 3628800,
                                         1. / 479001600, -1. / 87178291200, 1. / 20922789888000);
  const double cotangent = near_pole ? cosine / sine : sine / cosine;
  return exact_mul(pi, r < 0 ? -cotangent : cotangent);
}

}  // namespace detail

/// psi(x) = d/dx ln Gamma(x) in pure double arithmetic: same bits on every device.
///   x > 0    |error| <= 8e-16 max(1, |psi(x)|), and a few ulp near the zero at 1.4616...
///   x < 0    |error| <= 2e-15 max(1, |psi(1 - x)|, |pi cot(pi x)|), by reflection: psi(1 - x) - pi cot(pi x)
/// NaN at the poles 0, -1, -2, ... and at -inf; psi(inf) = inf.
/// Method: polynomial on [1, 2], recurrence to 10, asymptotic series beyond (Abramowitz & Stegun 6.3).
KOLMO_HD constexpr double digamma_exact(double x) {
  if (x > 0) return x == std::numeric_limits<double>::infinity() ? x : detail::digamma_positive(x);
  const bool pole = !(x > -0x1p53) || x == double(std::int64_t(x));  // every double below -2^53 is an integer
  if (pole) return std::numeric_limits<double>::quiet_NaN();
  return exact_add(detail::digamma_positive(exact_add(1, -x)), -detail::pi_cotangent(x));
}

}  // namespace kolmo
