#pragma once
#include <cstdint>
#include <vector>

#include "kolmo/topology/distances.hpp"

namespace kolmo::topology {

/// The edges of a filtration in the order of their lengths, and of their points where lengths are equal. The rank of an
/// edge is its place in that order. Ranks are all different, so each triangle has one longest edge, and is named by
/// the rank of this edge and the point opposite to it; of triangles with the same longest edge that with the smaller
/// opposite point comes first.
struct EdgeOrder {
  using Rank = std::uint32_t;
  static constexpr Rank none = ~Rank(0);
  using Triangle = std::uint64_t;

  struct Edge {
    double length;
    std::uint32_t from, to;
  };

  /// Sorts the edges up to `threshold`. Infinite distances are no edges.
  EdgeOrder(const Distances& distances, double threshold, int threads);

  std::int64_t points;
  std::vector<Edge> edges;  ///< by rank
  std::vector<Rank> ranks;  ///< points x points; `none` for what is no edge, and on the diagonal
  /// For each edge, the smallest opposite point of the triangles whose longest edge it is; `none` if there are none. The
  /// edge and that triangle are an apparent pair: each is the only one that the other can be paired with.
  std::vector<std::uint32_t> apparent;

  const Rank* row(std::int64_t point) const { return ranks.data() + point * points; }
  static constexpr Triangle triangle(Rank longest, std::uint32_t opposite) {
    return Triangle(longest) << 32 | opposite;
  }
  static constexpr Rank longest(Triangle t) { return Rank(t >> 32); }
  static constexpr std::uint32_t opposite(Triangle t) { return std::uint32_t(t); }
  bool is_apparent(Triangle t) const { return apparent[longest(t)] == opposite(t); }

 private:
  std::uint32_t find_apparent(Rank edge) const;
};

}  // namespace kolmo::topology
