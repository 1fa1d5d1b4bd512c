#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "kolmo/topology/diagram_distance.hpp"

namespace kolmo::topology {

/// The finite intervals of two diagrams, which are to be matched, and the costs of the infinite ones, which are matched in
/// the order of their finite ends.
struct FinitePart {
  Diagram a, b;
  std::vector<double> essential;  ///< costs of the intervals that have an infinite end
  bool infinite = false;          ///< the numbers of these differ
};

/// Splits two diagrams. `name` is that of the distance, for messages. Throws InvalidArgument if a cost of infinite intervals is
/// beyond the largest double.
FinitePart finite_part(const Diagram& a, const Diagram& b, const char* name);

/// Throws InvalidArgument: the distance `name` is beyond the largest double.
[[noreturn]] void fail_beyond(const std::string& name);

/// Infinite if it is beyond the largest double; then both intervals are nearer to the diagonal.
inline double cost(const Interval& p, const Interval& q) {
  return std::max(std::fabs(p.birth - q.birth), std::fabs(p.death - q.death));
}
/// Half the persistence, which is finite even if that is beyond the largest double.
inline double cost_of_diagonal(const Interval& p) {
  const double twice = p.persistence();
  return twice < HUGE_VAL ? twice / 2 : p.death / 2 - p.birth / 2;
}

}  // namespace kolmo::topology
