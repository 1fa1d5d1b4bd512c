#pragma once
#include <string>
#include <vector>

#include "kolmo/flow/result/network_json.hpp"
#include "tests/flow/test_series.hpp"

namespace kolmo::testing_flow {

/// Returns the document of a network as text, to compare whole results.
inline std::string text(const Network& network, const Series& series, const NetworkOptions& o) {
  NetworkRequest request;
  request.estimator = o.estimator, request.max_lag = o.max_lag, request.embedding = o.embedding;
  return network_json(network_document(network, series, o, request)).dump();
}

/// x0 drives x1 at lag 2, x1 drives x2 at lag 1.
inline std::vector<std::vector<double>> chain(std::size_t n, std::uint64_t seed = 1) {
  std::vector<std::vector<double>> x{normals(seed, 0, n), normals(seed, 1, n), normals(seed, 2, n)};
  for (std::size_t t = 2; t < n; ++t) {
    x[0][t] += 0.4 * x[0][t - 1];
    x[1][t] += 0.3 * x[1][t - 1] + 0.8 * x[0][t - 2];
    x[2][t] += 0.8 * x[1][t - 1];
  }
  return x;
}

}  // namespace kolmo::testing_flow
