#include "kolmo/flow/test/inspect_value.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kolmo/base/digamma.hpp"

namespace kolmo {
namespace {

using Values = std::vector<double>;
using Times = std::span<const std::int64_t>;

/// The values of a coordinate at the times, at mean 0 and deviation 1.
Values standard(const Series& series, Coordinate c, Times times) {
  Values v;
  v.reserve(times.size());
  for (const std::int64_t t : times)
    v.push_back(series.values[std::size_t(c.variable)][std::size_t(t - c.lag)]);
  const Scaling z = scaling_of(v);
  for (double& x : v) x = (x - z.mean) / z.deviation;
  return v;
}

/// Whether two standard columns are equal up to their sign.
bool are_equal(const Values& a, const Values& b) {
  constexpr double rounding = 1e-7;
  const auto near = [=](double sign) {
    return std::equal(a.begin(), a.end(), b.begin(),
                      [=](double v, double w) { return std::abs(v - sign * w) < rounding; });
  };
  return near(1) || near(-1);
}

/// The variance of y about a smooth curve through x; of standard columns, so that at most about 1.
double residual_variance(const Values& x, const Values& y) {
  constexpr double median_of_square = 0.4549;  // of a standard normal number
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
  Values squares;
  for (std::size_t i = 1; i + 1 < order.size(); ++i) {
    const std::size_t before = order[i - 1], at = order[i], after = order[i + 1];
    const double width = x[after] - x[before], a = width > 0 ? (x[after] - x[at]) / width : 0.5, b = 1 - a;
    const double error = a * y[before] + b * y[after] - y[at];
    squares.push_back(error * error / (a * a + b * b + 1));
  }
  const auto middle = squares.begin() + std::ptrdiff_t(squares.size() / 2);
  std::nth_element(squares.begin(), middle, squares.end());
  return *middle / median_of_square;
}

/// Whether a column of y is one of x, and none of z.
bool is_a_copy(const Series& series, const EstimationTask& task, const Coordinates& x) {
  const auto has = [&](const Coordinates& columns, const Values& y) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const Coordinate& c) { return are_equal(standard(series, c, task.times), y); });
  };
  return std::any_of(task.y.begin(), task.y.end(), [&](const Coordinate& c) {
    const Values y = standard(series, c, task.times);
    return has(x, y) && !has(task.z, y);
  });
}

/// Whether x and y are nearer to a curve than so many rows can tell.
bool is_a_curve(const Series& series, const EstimationTask& task, const Coordinates& x, double most) {
  if (task.times.size() < 10) return false;
  const Values a = standard(series, x[0], task.times), b = standard(series, task.y[0], task.times);
  return -std::log(std::min(residual_variance(a, b), residual_variance(b, a))) / 2 > most;
}

}  // namespace

std::string why_infinite(const Series& series, const EstimationTask& task, std::size_t alternative,
                         double value, const EstimatorOptions& o) {
  const Coordinates& x = task.x[alternative];
  const double most = digamma_exact(double(task.times.size())) - digamma_exact(double(o.neighbors));
  constexpr double rounding = 15;      // nats: 1 - r^2 is 1e-13
  constexpr double near = 1, far = 3;  // from the most, where curves of moderate slopes still come
  constexpr double copy_given_others = 0.5;
  bool certain = false, likely = false;
  if (o.estimator == Estimator::gaussian)
    certain = value > rounding;
  else if (o.estimator == Estimator::ksg && value > (task.z.empty() ? most - far : copy_given_others)) {
    certain = is_a_copy(series, task, x);
    if (task.z.empty())
      likely = x.size() + task.y.size() > 2 ? value > most - near : is_a_curve(series, task, x, most);
  }
  if (!certain && !likely) return "";
  const std::string how = certain ? ", so that the truth is infinite"
                                  : " as far as these rows can tell, so that the truth may be infinite";
  return "one determines the other" + how + "; the value only tells how many rows there are";
}

}  // namespace kolmo
