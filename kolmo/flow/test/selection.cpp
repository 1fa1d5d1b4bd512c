#include "kolmo/flow/test/selection.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace kolmo {
namespace {

template <class F>
std::vector<double> over_variables(const SurrogateRows& rows, F better) {
  std::vector<double> best = rows.at(0);
  for (const std::vector<double>& row : rows)
    for (std::size_t s = 0; s < best.size(); ++s) best[s] = better(best[s], row[s]);
  return best;
}

/// The places of the values, those first that come first in this order; equal ones as they stand.
template <class Before>
std::vector<std::size_t> order_of(std::span<const double> values, Before before) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return before(values[a], values[b]); });
  return order;
}

}  // namespace

std::vector<double> largest_of_draws(const SurrogateRows& rows) {
  return over_variables(rows, [](double a, double b) { return std::max(a, b); });
}

std::vector<double> smallest_of_draws(const SurrogateRows& rows) {
  return over_variables(rows, [](double a, double b) { return std::min(a, b); });
}

std::size_t surrogates_needed(double observed, std::span<const double> surrogates, std::size_t total,
                              double alpha, PValue convention) {
  const double extra = convention == PValue::plus_one;
  double reached = 0;
  for (std::size_t s = 0; s < surrogates.size(); ++s) {
    reached += surrogates[s] >= observed;
    if (!is_significant((extra + reached) / (extra + double(total)), alpha, convention)) return s + 1;
  }
  return surrogates.size() >= total ? surrogates.size() : 0;
}

std::vector<double> step_down(std::span<const double> observed, const SurrogateRows& surrogates,
                              PValue convention) {
  const std::vector<std::size_t> order = order_of(observed, std::greater<>());
  std::vector<double> p(observed.size());
  std::vector<std::vector<double>> largest(observed.size());  // over this rank and those after it
  for (std::size_t r = order.size(); r-- > 0;) {
    largest[r] = surrogates[order[r]];
    if (r + 1 < order.size()) largest[r] = largest_of_draws({largest[r], largest[r + 1]});
  }
  for (std::size_t r = 0; r < order.size(); ++r)
    p[order[r]] = std::max(p_value(observed[order[r]], largest[r], convention), r ? p[order[r - 1]] : 0.0);
  return p;
}

std::vector<double> by_rank(std::span<const double> observed, const SurrogateRows& surrogates,
                            PValue convention) {
  const std::vector<std::size_t> order = order_of(observed, std::greater<>());
  const std::size_t draws = surrogates.at(0).size();
  SurrogateRows ranked(order.size(), std::vector<double>(draws));
  std::vector<double> of_draw(order.size()), p(order.size());
  for (std::size_t s = 0; s < draws; ++s) {
    for (std::size_t v = 0; v < order.size(); ++v) of_draw[v] = surrogates[v][s];
    std::sort(of_draw.begin(), of_draw.end(), std::greater<>());
    for (std::size_t r = 0; r < order.size(); ++r) ranked[r][s] = of_draw[r];
  }
  for (std::size_t r = 0; r < order.size(); ++r)
    p[order[r]] = std::max(p_value(observed[order[r]], ranked[r], convention), r ? p[order[r - 1]] : 0.0);
  return p;
}

std::vector<double> step_down(std::span<const double> single) {
  const std::vector<std::size_t> order = order_of(single, std::less<>());
  std::vector<double> p(single.size());
  for (std::size_t r = 0; r < order.size(); ++r) {
    std::vector<double> rest(order.size() - r, 1.0);
    rest[0] = single[order[r]];
    p[order[r]] = std::max(sidak(rest), r ? p[order[r - 1]] : 0.0);
  }
  return p;
}

}  // namespace kolmo
