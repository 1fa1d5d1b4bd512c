#pragma once
#include <cstdint>

#include "kolmo/base/digamma.hpp"
#include "kolmo/base/hd.hpp"
#include "kolmo/knn/ksg.hpp"

namespace kolmo {

/// Converts a digamma term to fixed point, in units of 2^-52. Integer sums do not depend on order, so an
/// estimate has the same bits for any number of threads, blocks and devices, without a histogram of counts
/// per estimate.
KOLMO_HD constexpr std::int64_t to_fixed(double v) {
  const double scaled = exact_mul(v, 0x1p52);
  return std::int64_t(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

/// The terms that a marginal count n adds: `condition` for a count in z, `marginal` for one in (x,z) or
/// (y,z), or in x or y if there is no z. Counts exclude the point itself. ksg2's counts are at least 1; the
/// clamp keeps terms finite for duplicate points.
struct PsiTerm {
  std::int64_t condition, marginal;
};
KOLMO_HD inline PsiTerm psi_term(KsgAlgorithm algorithm, bool conditional, std::int64_t n) {
  if (algorithm == KsgAlgorithm::ksg1) {
    const std::int64_t t = to_fixed(digamma_exact(double(n + 1)));
    return {t, t};
  }
  const double m = double(n < 1 ? 1 : n), psi = digamma_exact(m);
  return {to_fixed(psi), to_fixed(conditional ? exact_add(psi, -1 / m) : psi)};
}

/// An exact sum of up to 2^31 terms, as high * 2^32 + low.
struct PsiSum {
  std::int64_t high = 0, low = 0;

  KOLMO_HD constexpr void add(std::int64_t term) { high += term >> 32, low += term & 0xffffffff; }
  KOLMO_HD constexpr void add(const PsiSum& other) { high += other.high, low += other.low; }
  /// Returns the mean over n points plus the estimator's constant, in nats.
  KOLMO_HD double estimate(double constant, std::int64_t n) const {
    const std::int64_t h = high + (low >> 32), l = low & 0xffffffff;
    const double sum = exact_mul(exact_add(exact_mul(double(h), 0x1p32), double(l)), 0x1p-52);
    return exact_add(constant, sum / double(n));
  }
  /// The constant part of the estimator: see ksg_conditional_mutual_information.
  KOLMO_HD static double constant(KsgAlgorithm algorithm, bool conditional, std::int64_t k, std::int64_t n) {
    double c = digamma_exact(double(k));
    if (algorithm == KsgAlgorithm::ksg2) c = exact_add(c, -(conditional ? 2.0 : 1.0) / double(k));
    return conditional ? c : exact_add(c, digamma_exact(double(n)));
  }
  /// Returns one point's local value in nats: its term plus the constant.
  KOLMO_HD static double local(std::int64_t term, double constant) {
    return exact_add(constant, exact_mul(double(term), 0x1p-52));
  }
};

}  // namespace kolmo
