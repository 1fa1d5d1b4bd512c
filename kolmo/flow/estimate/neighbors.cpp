#include "kolmo/flow/estimate/neighbors.hpp"

#include <algorithm>
#include <cmath>

namespace kolmo {

std::int64_t chosen_neighbors(std::int64_t rows, std::int64_t columns) {
  const double best = std::pow(double(rows), 4.0 / double(4 + columns)) / 5;
  return std::int64_t(std::clamp(std::round(best), 4.0, 64.0));
}

EstimatorOptions with_neighbors(EstimatorOptions o, std::int64_t rows, std::int64_t columns) {
  if (o.neighbors) return o;
  o.neighbors = chosen_neighbors(rows, columns), o.neighbors_chosen = true;
  return o;
}

std::string neighbors_note(const EstimatorOptions& o) {
  return "--neighbors auto: " + std::to_string(o.neighbors) + " nearest neighbours";
}

}  // namespace kolmo
