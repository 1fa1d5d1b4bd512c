// Computes one estimate at a time. Nearest neighbours come from a k-d tree over (x, y, z). Marginal counts
// come from a sorted column if the marginal has one column, else from a tree of its own.
#include <cmath>
#include <utility>

#include "kolmo/knn/ksg_problem.hpp"
#include "kolmo/knn/sorted.hpp"
#include "kolmo/knn/tree.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/knn/trees.cpp"
#include "kolmo/knn/targets.hpp"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on
#include "kolmo/knn/interval-inl.hpp"
#include "kolmo/knn/search-inl.hpp"

#ifndef KOLMO_KNN_TREES_ONCE
#define KOLMO_KNN_TREES_ONCE
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

}  // namespace kolmo::knn
#endif

HWY_BEFORE_NAMESPACE();
namespace kolmo::knn {
namespace HWY_NAMESPACE {

/// Calls run<D>() with the number of columns, or with 0 if there are many.
template <class Run>
HWY_INLINE auto with_columns(int columns, const Run& run) {
  switch (columns) {
    case 2:
      return run.template operator()<2>();
    case 3:
      return run.template operator()<3>();
    case 4:
      return run.template operator()<4>();
    case 5:
      return run.template operator()<5>();
    case 6:
      return run.template operator()<6>();
    case 7:
      return run.template operator()<7>();
    case 8:
      return run.template operator()<8>();
    default:
      return run.template operator()<0>();
  }
}

template <class T>
std::int64_t near(const Marginal<T>& m, std::int64_t row, const T* q, const T* radius,
                  const KsgProblem<T>& p) {
  std::int64_t count;
  if (m.columns.count > 1) {
    count = with_columns(m.columns.count, [&]<int D> { return Search<D, T>(m.tree).count(q, radius); });
  } else {
    count = interval(m.cells, q[0], radius[0]).size;
  }
  const std::int64_t from = std::max<std::int64_t>(0, row - p.theiler),
                     to = std::min(p.n - 1, row + p.theiler);
  for (std::int64_t j = from; j <= to; ++j) {
    bool in = p.excluded(row, j);
    for (int c = 0; c < m.columns.count && in; ++c) in = std::abs(m.columns(c, j) - q[c]) < radius[c];
    count -= in;
  }
  return count;
}

/// Finds the radii of the marginal counts, per column of (x, y, z). A point counts if it is nearer than the
/// radius.
template <class T>
void radii(const KsgProblem<T>& p, const Columns<T>& joint, const T* q, const Nearest<T>& best, T* radius) {
  if (p.algorithm == KsgAlgorithm::ksg1) {
    std::fill_n(radius, joint.count, best.bound());
    return;
  }
  const int ends[] = {p.dx, p.dx + p.dy, p.dx + p.dy + p.dz};
  for (int v = 0, c = 0; v < 3; c = ends[v++]) {
    T r = 0;
    for (int m = 0; m < best.k; ++m)
      for (int i = c; i < ends[v]; ++i) r = std::max(r, std::abs(joint(i, best.row[m]) - q[i]));
    std::fill(radius + c, radius + ends[v], std::nextafter(r, std::numeric_limits<T>::infinity()));
  }
}

template <int D, class T>
void estimate(const KsgProblem<T>& p, const Workbench<T>& w, const Columns<T>& joint, double* value,
              double* local, int threads) {
  const Search<D, T> search(w.joint);
  const bool conditional = p.conditional();
  const double constant = PsiSum::constant(p.algorithm, conditional, p.k, p.n);
  std::fill_n(w.sums, threads, PsiSum{});
  constexpr std::int64_t leaf = Tree<T>::leaf, leaves_per_item = 16;
  parallel_for(
      threads, (w.joint.leaves + leaves_per_item - 1) / leaves_per_item, [&](std::int64_t item, int thread) {
        PsiSum sum;
        T q[max_columns], radius[max_columns], q_first[max_columns], r_first[max_columns];
        const std::int64_t end = std::min(w.joint.leaves, (item + 1) * leaves_per_item) * leaf;
        for (std::int64_t slot = item * leaves_per_item * leaf; slot < end; ++slot) {
          const std::int64_t row = w.joint.row[slot];
          if (row == Tree<T>::no_row) continue;
          const T* own = w.joint.leaf_points(slot / leaf) + slot % leaf;
          for (int c = 0; c < joint.count; ++c) q[c] = own[c * leaf];
          Nearest<T> best(int(p.k));
          search.nearest(q, slot / leaf, best, [&](std::uint32_t other) { return p.excluded(row, other); });
          radii(p, joint, q, best, radius);
          std::copy_n(q, p.dx, q_first), std::copy_n(radius, p.dx, r_first);
          std::copy_n(q + p.dx + p.dy, p.dz, q_first + p.dx),
              std::copy_n(radius + p.dx + p.dy, p.dz, r_first + p.dx);
          std::int64_t term = -w.terms[near(w.first, row, q_first, r_first, p)].marginal -
                              w.terms[near(w.second, row, q + p.dx, radius + p.dx, p)].marginal;
          if (conditional)
            term += w.terms[near(w.condition, row, q + p.dx + p.dy, radius + p.dx + p.dy, p)].condition;
          sum.add(term);
          if (local) local[row] = PsiSum::local(term, constant);
        }
        w.sums[thread].add(sum);
      });
  PsiSum total;
  for (int t = 0; t < threads; ++t) total.add(w.sums[t]);
  *value = total.estimate(constant, p.n);
}

template <class T>
void all_estimates(const KsgProblem<T>& p, bool only_observed, Workbench<T>& w, int threads) {
  for (std::int64_t n = 0; n <= p.n; ++n) w.terms[n] = psi_term(p.algorithm, p.conditional(), n);
  w.second.columns.add(p.y, p.dy), w.second.columns.add(p.z, p.dz);
  w.condition.columns.add(p.z, p.dz);
  w.second.build(p.n);
  if (p.dz) w.condition.build(p.n);
  for (std::int64_t b = 0; b < p.b; ++b) {
    const T* x = p.x + b * p.x_step;
    for (std::int64_t s = 0; s < (only_observed ? 1 : p.estimates()); ++s) {
      const SurrogateMap map = p.surrogate(b, s);
      for (std::int64_t i = 0; i < p.n; ++i)
        std::copy_n(x + map(std::uint32_t(i)) * p.dx, p.dx, w.shuffled + i * p.dx);
      Columns<T> joint;
      joint.add(w.shuffled, p.dx), joint.add(p.y, p.dy), joint.add(p.z, p.dz);
      w.joint.build(joint);
      w.first.columns = {};
      w.first.columns.add(w.shuffled, p.dx), w.first.columns.add(p.z, p.dz);
      if (p.dz || s == 0) w.first.build(p.n);  // without z, x is the same set of points in every surrogate
      double* value = p.value + b * p.estimates() + s;
      double* local = p.local && s == 0 ? p.local + b * p.local_step : nullptr;
      with_columns(joint.count, [&]<int D> { estimate<D>(p, w, joint, value, local, threads); });
    }
  }
}

void trees_f64(const KsgProblem<double>& p, bool only_observed, Workbench<double>& w, int threads) {
  all_estimates(p, only_observed, w, threads);
}
void trees_f32(const KsgProblem<float>& p, bool only_observed, Workbench<float>& w, int threads) {
  all_estimates(p, only_observed, w, threads);
}

}  // namespace HWY_NAMESPACE
}  // namespace kolmo::knn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kolmo::knn {

HWY_EXPORT(trees_f64);
HWY_EXPORT(trees_f32);

template <class T>
void trees_layout(const KsgProblem<T>& p, Arena& arena, int threads) {
  Workbench<T> w;
  w.layout(p, arena, threads);
}
template <class T>
void trees(const KsgProblem<T>& p, bool only_observed, Arena arena, int threads) {
  Workbench<T> w;
  w.layout(p, arena, threads);
  if constexpr (sizeof(T) == 8)
    HWY_DYNAMIC_DISPATCH(trees_f64)(p, only_observed, w, threads);
  else
    HWY_DYNAMIC_DISPATCH(trees_f32)(p, only_observed, w, threads);
}

template void trees_layout(const KsgProblem<double>&, Arena&, int);
template void trees_layout(const KsgProblem<float>&, Arena&, int);
template void trees(const KsgProblem<double>&, bool, Arena, int);
template void trees(const KsgProblem<float>&, bool, Arena, int);

}  // namespace kolmo::knn
#endif
