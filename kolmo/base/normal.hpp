#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "kolmo/base/log.hpp"

namespace kolmo {
namespace detail {

/// sqrt(-ln p) for 2^-100 < p < 0.1.
KOLMO_HD inline double root_of_log(double p) { return std::sqrt(-log_exact(p)); }
KOLMO_HD inline float root_of_log(float p) {  // as log_exact, with fewer terms
  constexpr std::uint32_t one = 0x3f800000, sqrt_half = 0x3f3504f3;
  const std::uint32_t shifted = std::bit_cast<std::uint32_t>(p) + (one - sqrt_half);
  const int k = int(shifted >> 23) - 127;
  const float f = std::bit_cast<float>((shifted & 0x7fffff) + sqrt_half) - 1, s = f / (2 + f);
  const float series = exact_polynomial(exact_mul(s, s), 2, 2. / 3, 2. / 5, 2. / 7, 2. / 9);
  return std::sqrt(-exact_add(exact_mul(float(k), 0x1.62e43p-1f), exact_mul(s, series)));
}

}  // namespace detail

/// z > 0 with P(N > z) = tail = 1/2 - center for a standard normal N; both are given because each keeps its
/// digits at one end. Exactly rounded operations: same bits on every device. Relative error 1e-15.
/// Source: Wichura, algorithm AS 241 (PPND16; in float PPND7), Applied Statistics 37, 1988.
KOLMO_HD inline double normal_quantile(double center, double tail) {
  if (center <= 0.425) {
    const double r = exact_add(0.180625, -exact_mul(center, center));
    const double numerator =
        exact_polynomial(r, 3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
                         1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                         3.3430575583588128105e+4, 2.5090809287301226727e+3);
    const double denominator =
        exact_polynomial(r, 1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
                         2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
                         5.2264952788528545610e+3);
    return exact_mul(center, numerator / denominator);
  }
  const double root = detail::root_of_log(tail);
  if (root <= 5) {
    const double x = exact_add(root, -1.6);
    return exact_polynomial(x, 1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
                            3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
                            2.27238449892691845833e-2, 7.74545014278341407640e-4) /
           exact_polynomial(x, 1, 2.05319162663775882187e0, 1.67638483018380384940e0,
                            6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
                            5.47593808499534494600e-4, 1.05075007164441684324e-9);
  }
  const double x = exact_add(root, -5);
  return exact_polynomial(x, 6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
                          2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                          2.71155556874348757815e-5, 2.01033439929228813265e-7) /
         exact_polynomial(x, 1, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
                          1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
                          1.42151175831644588870e-7, 2.04426310338993978564e-15);
}
/// The same in float for tails from 2^-33 on, whose root is below 5. Relative error 1e-6.
KOLMO_HD inline float normal_quantile(float center, float tail) {
  if (center <= 0.425f) {
    const float r = exact_add(0.180625f, -exact_mul(center, center));
    return exact_mul(center,
                     exact_polynomial(r, 3.3871327179, 5.0434271938e+1, 1.5929113202e+2, 5.9109374720e+1) /
                         exact_polynomial(r, 1, 1.7895169469e+1, 7.8757757664e+1, 6.7187563600e+1));
  }
  const float x = exact_add(detail::root_of_log(tail), -1.6f);
  return exact_polynomial(x, 1.4234372777, 2.7568153900, 1.3067284816, 1.7023821103e-1) /
         exact_polynomial(x, 1, 7.3700164250e-1, 1.2021132975e-1);
}

}  // namespace kolmo
