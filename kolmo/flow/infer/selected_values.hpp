#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "kolmo/flow/infer/selection.hpp"

namespace kolmo {

inline bool same(const Coordinate& a, const Coordinate& b) {
  return a.variable == b.variable && a.lag == b.lag;
}

inline bool contains(std::span<const Coordinate> all, const Coordinate& c) {
  return std::any_of(all.begin(), all.end(), [&](const Coordinate& o) { return same(o, c); });
}

inline Coordinates values_of(std::span<const Chosen> chosen) {
  Coordinates values;
  for (const Chosen& c : chosen) values.push_back(c.value);
  return values;
}

/// The values by their variables, which come in the order in which they joined.
std::vector<Coordinates> by_variable(const Coordinates& values);

}  // namespace kolmo
