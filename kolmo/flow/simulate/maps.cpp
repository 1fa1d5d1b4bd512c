#include <algorithm>
#include <cmath>

#include "kolmo/base/error.hpp"
#include "kolmo/flow/data/portable_math.hpp"
#include "kolmo/flow/simulate/steps.hpp"

namespace kolmo::detail {
namespace {

using Values = std::vector<std::vector<double>>;

constexpr std::size_t longest_lag = 3;

double reflect(double x) {
  if (x < 0) x = -x;
  return x > 1 ? 2 - x : x;
}

double total(const std::vector<TrueLink>& links) {
  double sum = 0;
  for (const TrueLink& link : links) sum += link.strength;
  return sum;
}

double logistic(double x) { return 4 * x * (1 - x); }

/// The sample at t >= longest_lag of variable i.
double step(const System& system, const std::vector<TrueLink>& links, const Values& x, std::size_t i,
            std::size_t t, const portable::Random& random) {
  const auto driver = [&](const TrueLink& link) {
    return x[std::size_t(link.source)][t - std::size_t(link.lag)];
  };
  const double rest = 1 - total(links), own = x[i][t - 1];
  double sum = 0;
  switch (system.kind) {
    case SystemKind::coupled_logistic:
      for (const TrueLink& link : links) sum += link.strength * logistic(driver(link));
      return reflect(rest * logistic(own) + sum + random.uniform(noise, t, std::uint32_t(i), -0.1, 0.1));
    case SystemKind::var:
      for (const TrueLink& link : links) sum += link.strength * driver(link);
      return system.self[i] * own + sum + random.normal(noise, t, std::uint32_t(i));
    default:
      for (const TrueLink& link : links) sum += link.strength * driver(link);
      sum += rest * own;
      return system.self[i] - sum * sum + 0.3 * x[i][t - 2];
  }
}

}  // namespace

std::vector<std::vector<double>> run_map(const System& system, std::size_t length) {
  const portable::Random random(system.seed);
  const Incoming incoming = incoming_links(system);
  const std::size_t variables = incoming.size();
  Values x(variables, std::vector<double>(length));
  for (std::size_t t = 0; t < length; ++t) {
    for (std::size_t i = 0; i < variables; ++i) {
      x[i][t] = t < longest_lag ? random.uniform(start, t, std::uint32_t(i))
                                : step(system, incoming[i], x, i, t, random);
    }
  }
  return x;
}

}  // namespace kolmo::detail
