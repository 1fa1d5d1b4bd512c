#pragma once
#include <algorithm>
#include <limits>

#include "kolmo/knn/ksg_problem.hpp"
#include "kolmo/knn/sorted.hpp"
#include "kolmo/knn/tree.hpp"

namespace kolmo::knn {

/// Counts the points near a row in some of the columns.
template <class T>
struct Marginal {
  Columns<T> columns;  // row i is observation i of this estimate
  Tree<T> tree;        // used if there are two columns or more
  T* value = nullptr;  // used if there is one column: ascending, padded with infinities
  Cells<T> cells{};

  void layout(std::int64_t n, int d, Arena& arena) {
    if (d > 1) return tree.layout(n, d, arena);
    value = arena.take<T>(std::size_t(n + Cells<T>::padding));
    cells = {value, arena.take<std::uint32_t>(std::size_t(Cells<T>::count(n))), 0, 0, 0};
  }
  void build(std::int64_t n) {
    if (columns.count > 1) return tree.build(columns);
    for (std::int64_t i = 0; i < n; ++i) value[i] = columns(0, i);
    sort(value, std::size_t(n));
    std::fill_n(value + n, Cells<T>::padding, std::numeric_limits<T>::infinity());
    cells.build(n);
  }
};

/// The memory for one estimate at a time; the workspace holds one of these.
template <class T>
struct Workbench {
  Tree<T> joint;
  Marginal<T> first, second, condition;  // x and y; or (x, z), (y, z) and z
  T* shuffled;                           // the rows of x in this estimate
  PsiTerm* terms;                        // terms by count
  PsiSum* sums;                          // sums by thread

  void layout(const KsgProblem<T>& p, Arena& arena, int threads) {
    joint.layout(p.n, p.dx + p.dy + p.dz, arena);
    first.layout(p.n, p.dx + p.dz, arena);
    second.layout(p.n, p.dy + p.dz, arena);
    if (p.dz) condition.layout(p.n, p.dz, arena);
    shuffled = arena.take<T>(std::size_t(p.n * p.dx));
    terms = arena.take<PsiTerm>(std::size_t(p.n + 1));
    sums = arena.take<PsiSum>(std::size_t(threads));
  }
};

template <class T>
void trees_layout(const KsgProblem<T>& p, Arena& arena, int threads) {
  Workbench<T> w;
  w.layout(p, arena, threads);
}

}  // namespace kolmo::knn
