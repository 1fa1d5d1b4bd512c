#pragma once
#include <cmath>
#include <numeric>

#include "kolmo/flow/infer/network.hpp"
#include "tests/flow/test_series.hpp"

namespace kolmo::testing_flow {

/// Each drives the next, one row later.
inline Series driven(std::size_t variables, std::size_t rows, std::uint64_t seed = 7) {
  std::vector<std::vector<double>> x;
  for (std::size_t v = 0; v < variables; ++v) {
    x.push_back(normals(seed, std::int64_t(v), rows));
    for (std::size_t t = 1; t < rows && v; ++t) x[v][t] += 0.8 * x[v - 1][t - 1];
  }
  return series_of(x);
}

/// Options of a multivariate network of the first variables, as settled, with the same number of surrogates in all tests.
inline NetworkOptions greedy_options(std::int32_t variables, std::int64_t max_lag,
                                     std::int64_t surrogates = 199) {
  NetworkOptions o;
  o.variables.resize(std::size_t(variables));
  std::iota(o.variables.begin(), o.variables.end(), 0);
  o.max_lag = max_lag, o.method = NetworkMethod::multivariate, o.embedding = EmbeddingRule::given;
  o.estimator.surrogates = surrogates;
  GreedyOptions& g = o.greedy;
  g.permutations_max_stat = g.permutations_min_stat = g.permutations_omnibus = g.permutations_max_seq =
      surrogates;
  g.max_lag_target = max_lag;
  return o;
}

}  // namespace kolmo::testing_flow
