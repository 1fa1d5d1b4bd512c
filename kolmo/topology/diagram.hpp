#pragma once
#include <vector>

namespace kolmo::topology {

/// A class of homology: the scale at which it is born, and that at which it dies, infinite if it never does.
struct Interval {
  double birth, death;

  double persistence() const { return death - birth; }
  // clang-tidy 14 takes the comparison with 0 for one of pointers.
  friend auto operator<=>(const Interval&, const Interval&) = default;  // NOLINT(modernize-use-nullptr)
};

/// The classes of one dimension, in the order of birth and then of death.
using Diagram = std::vector<Interval>;

/// The components (H0) and the loops (H1) of a filtration.
struct Diagrams {
  Diagram h0, h1;
  double threshold;  ///< the scale at which the filtration ended
};

}  // namespace kolmo::topology
