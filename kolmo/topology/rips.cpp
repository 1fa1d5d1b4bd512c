#include "kolmo/topology/rips.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kolmo/base/error.hpp"

namespace kolmo::topology {
namespace {

/// Sets of points that are connected.
class Components {
 public:
  explicit Components(std::int64_t n) : parent_(std::size_t(n)) {
    std::iota(parent_.begin(), parent_.end(), 0u);
  }
  /// Returns whether a and b were in different sets.
  bool join(std::uint32_t a, std::uint32_t b) {
    a = find(a), b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

 private:
  std::uint32_t find(std::uint32_t a) {
    while (parent_[a] != a) a = parent_[a] = parent_[parent_[a]];
    return a;
  }
  std::vector<std::uint32_t> parent_;
};

}  // namespace

Diagrams rips_persistence(const Distances& distances, const RipsOptions& options, const Listener& listener) {
  require(options.max_dimension == 0 || options.max_dimension == 1,
          "rips_persistence: max_dimension is " + std::to_string(options.max_dimension) +
              ", but only components (0) and loops (1) are computed");
  require(!options.threshold || *options.threshold >= 0,
          "rips_persistence: threshold is a length, and so at least 0");
  const double threshold = options.threshold.value_or(distances.enclosing_radius());
  const EdgeOrder order(distances, threshold, options.threads);
  Diagrams found{{}, {}, threshold};
  Components components(order.points);
  std::vector<bool> joins(order.edges.size());
  std::int64_t left = order.points;
  for (std::size_t e = 0; e < joins.size() && left > 1; ++e) {
    const auto& [length, from, to] = order.edges[e];
    joins[e] = components.join(from, to);
    if (!joins[e]) continue;
    --left;
    if (length > 0) found.h0.push_back({0, length});
  }
  found.h0.resize(found.h0.size() + std::size_t(left), {0, HUGE_VAL});
  if (options.max_dimension > 0) found.h1 = Cohomology(order, options.capacity).loops(joins, listener);
  return found;
}

}  // namespace kolmo::topology
