#pragma once
#include <cstddef>
#include <functional>
#include <unordered_map>

#include "kolmo/topology/diagram.hpp"
#include "kolmo/topology/edge_order.hpp"

namespace kolmo::topology {

/// Is told how many columns are done, and of how many.
using Listener = std::function<void(double done, double total)>;

/// The loops of a filtration, by reduction of the coboundaries of edges, over the field of two elements. Edges that join
/// components bear no loop and are left out (clearing), and so are those of apparent pairs, whose columns are computed
/// where they are added. Of a column that was reduced only the edges that it is a sum of are kept.
/// Source: Bauer, Ripser: efficient computation of Vietoris-Rips persistence barcodes, J. Appl. Comput. Topol. 5, 391
/// (2021).
class Cohomology {
 public:
  /// `capacity`: triangles of a column that are in memory at a time, at least 2.
  Cohomology(const EdgeOrder& order, std::size_t capacity) : order_(order), capacity_(capacity) {}

  /// `joins`: for each edge, whether it joins two components. Throws Interrupted if the caller has asked for that.
  Diagram loops(const std::vector<bool>& joins, const Listener& listener);

 private:
  using Rank = EdgeOrder::Rank;
  using Triangle = EdgeOrder::Triangle;
  static constexpr Triangle none = ~Triangle(0), last = EdgeOrder::triangle(EdgeOrder::none, 0);

  /// Reduces the column of an edge. Returns the triangle that the edge is paired with, or `none`.
  Triangle reduce(Rank edge);
  /// Finds the triangles around an edge from `from_` to before `end_`.
  void find_cofacets(Rank edge);
  /// Adds those triangles to the heap.
  void add(Rank edge);
  /// Takes the first triangle of the column out of it.
  Triangle first();
  Triangle first_in_heap();
  /// Cancels pairs of triangles in a full heap, and puts off the later half of what is left.
  void shorten();

  const EdgeOrder& order_;
  const std::size_t capacity_;
  std::vector<Triangle> found_;
  /// The triangles of the column from `from_` to before `end_`. Those before `from_` cancel, as all columns that are
  /// added are reduced; those from `end_` on are found anew when the others are used up.
  std::vector<Triangle> heap_;
  Triangle from_ = 0, end_ = last;
  std::vector<Rank> sum_;                             ///< of whose coboundaries the column is the sum
  std::vector<std::vector<Rank>> kept_;               ///< the sums of columns that were reduced
  std::unordered_map<Triangle, std::size_t> paired_;  ///< the place in kept_ by the triangle
};

}  // namespace kolmo::topology
