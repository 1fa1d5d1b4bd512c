#pragma once
#include <optional>

#include "kolmo/topology/cohomology.hpp"

namespace kolmo::topology {

struct RipsOptions {
  std::int64_t max_dimension = 1;     ///< 0: components only; 1: loops, too
  std::optional<double> threshold{};  ///< the filtration ends at this scale; the enclosing radius if left out
  int threads = 1;
  std::size_t capacity = 1 << 20;  ///< triangles of a column that are in memory at a time, at least 2
};

/// The persistence of a Vietoris-Rips filtration: at scale t it has every edge of length t or less, and every triangle
/// whose edges it has. A component is born at 0 and dies at the length of the edge that joins it to another one; a loop
/// is born with the edge that closes it and dies with the triangle that fills it. Over the field of two elements.
/// Intervals of length 0 are left out; those that are alive at the threshold have an infinite death. Equal lengths are
/// taken in a fixed order, and the diagrams depend neither on it nor on the order of the points, nor on `threads`.
/// The order of the edges takes persistence_bytes(n); time is O(n^2 log n) and that of the reduction, which is the
/// cube of the number of triangles at worst and near linear in it usually.
/// Throws InvalidArgument for a dimension that is not 0 or 1, or a threshold that is negative or NaN; Interrupted.
/// Source: Bauer, J. Appl. Comput. Topol. 5, 391 (2021).
Diagrams rips_persistence(const Distances& distances, const RipsOptions& options,
                          const Listener& listener = {});

}  // namespace kolmo::topology
