#include <new>
#include <string>

#include "kolmo/base/error.hpp"
#include "kolmo/base/number_text.hpp"
#include "kolmo/runtime/cpu/interrupt.hpp"
#include "kolmo/topology/matching.hpp"

namespace kolmo::topology {
namespace {

constexpr std::size_t none = ~std::size_t(0);

/// The costs of rows x columns, at most 0, of which each row takes one column or none.
struct Gains {
  std::size_t rows, columns;
  std::vector<double> values;

  const double* row(std::size_t i) const { return values.data() + i * columns; }
};

/// Finds the column of each row in an assignment of the smallest sum; rows <= columns.
std::vector<std::size_t> assign(const Gains& gains) {
  const auto [n, m] = std::pair(gains.rows, gains.columns);
  std::vector<double> of_row(n), of_column(m), distance(m);
  std::vector<std::size_t> owner(m, none), before(m), taken(n, none);
  std::vector<char> done(m);
  for (std::size_t start = 0; start < n; ++start) {
    check_interrupt();
    std::ranges::fill(distance, HUGE_VAL);
    std::ranges::fill(done, 0);
    std::vector<std::size_t> path;  // columns in the order in which they were reached
    std::size_t row = start, free = none;
    double shortest = 0;
    while (free == none) {
      const double* const cost = gains.row(row);
      std::size_t nearest = none;
      for (std::size_t j = 0; j < m; ++j) {
        if (done[j]) continue;
        const double d = shortest + cost[j] - of_row[row] - of_column[j];
        if (d < distance[j]) distance[j] = d, before[j] = row;
        if (nearest == none || distance[j] < distance[nearest]) nearest = j;
      }
      shortest = distance[nearest], done[nearest] = 1;
      path.push_back(nearest);
      if (owner[nearest] == none)
        free = nearest;
      else
        row = owner[nearest];
    }
    of_row[start] += shortest;
    for (const std::size_t j : path) {
      if (j == free) continue;
      of_row[owner[j]] += shortest - distance[j];
      of_column[j] -= shortest - distance[j];
    }
    for (std::size_t j = free;;) {
      const std::size_t i = before[j], next = taken[i];
      owner[j] = i, taken[i] = j;
      if (i == start) break;
      j = next;
    }
  }
  return taken;
}

/// (sum of cost^order)^(1/order), with costs in units of the largest one, so that no power overflows and the sum does not vanish.
double norm(const std::vector<double>& costs, double order) {
  const double unit = costs.empty() ? 0 : *std::ranges::max_element(costs);
  if (unit == 0) return 0;
  double sum = 0;
  for (const double c : costs) sum += order == 1 ? c / unit : std::pow(c / unit, order);
  const double found = unit * (order == 1 ? sum : std::pow(sum, 1 / order));
  if (found == HUGE_VAL) fail_beyond("wasserstein_distance");
  return found;
}

}  // namespace

double wasserstein_distance(const Diagram& a, const Diagram& b, double order) {
  require(order >= 1 && order < HUGE_VAL,
          "wasserstein_distance: order is " + number_text(order) +
              ", but it is 1 or more and finite; the bottleneck distance is that "
              "of an infinite order");
  FinitePart part = finite_part(a, b, "wasserstein_distance");
  if (part.infinite) return HUGE_VAL;
  if (part.a.size() > part.b.size()) std::swap(part.a, part.b);
  // Costs in units of the largest one, so that no power overflows.
  double unit = 0;
  for (const double c : part.essential) unit = std::max(unit, c);
  for (const Diagram* d : {&part.a, &part.b})
    for (const Interval& p : *d) unit = std::max(unit, cost_of_diagonal(p));
  if (unit == 0) return 0;
  const auto power = [&](double c) { return order == 1 ? c / unit : std::pow(c / unit, order); };
  // A match replaces two ways to the diagonal. One that costs more than these is never taken.
  Gains gains{part.a.size(), part.b.size(), {}};
  try {
    gains.values.resize(gains.rows * gains.columns);
  } catch (const std::bad_alloc&) {
    fail<OutOfMemory>("wasserstein_distance: no memory for the costs of " + std::to_string(gains.rows) +
                      " x " + std::to_string(gains.columns) + " intervals; leave short intervals out");
  }
  const auto gain = [&](std::size_t i, std::size_t j) {
    const double apart = power(cost_of_diagonal(part.a[i])) + power(cost_of_diagonal(part.b[j]));
    return power(cost(part.a[i], part.b[j])) - apart;
  };
  for (std::size_t i = 0; i < gains.rows; ++i)
    for (std::size_t j = 0; j < gains.columns; ++j)
      gains.values[i * gains.columns + j] = std::min(0.0, gain(i, j));
  std::vector<double> costs = part.essential;
  std::vector<char> matched(gains.columns);
  if (gains.rows) {
    const std::vector<std::size_t> taken = assign(gains);
    for (std::size_t i = 0; i < gains.rows; ++i) {
      const std::size_t j = taken[i];
      matched[j] = gains.row(i)[j] < 0;
      costs.push_back(matched[j] ? cost(part.a[i], part.b[j]) : cost_of_diagonal(part.a[i]));
    }
  }
  for (std::size_t j = 0; j < gains.columns; ++j)
    if (!matched[j]) costs.push_back(cost_of_diagonal(part.b[j]));
  return norm(costs, order);
}

}  // namespace kolmo::topology
