#include "kolmo/flow/estimate/analytic_test.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

namespace kolmo {
namespace {

/// Boost computes in double with this policy; long double, its default, takes several times as long.
using Doubles = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

}  // namespace

double analytic_p_value(double value, const GaussianSize& s) {
  if (s.x == 0 || s.y == 0) return 1;
  const std::size_t few = std::min(s.x, s.y), many = std::max(s.x, s.y);
  const double left = double(s.rows) - 1 - double(s.z);
  if (few == 1)
    return boost::math::ibeta((left - double(many)) / 2, double(many) / 2, std::exp(-2 * value), Doubles());
  const double statistic = 2 * std::max(left - double(s.x + s.y + 1) / 2, 1.0) * value;
  return boost::math::gamma_q(double(s.x * s.y) / 2, statistic / 2, Doubles());
}

std::string_view analytic_test(std::size_t x_columns, std::size_t y_columns) {
  return std::min(x_columns, y_columns) == 1 ? "F" : "chi-square";
}

}  // namespace kolmo
