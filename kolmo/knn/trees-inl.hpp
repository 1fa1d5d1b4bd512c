// Computes one estimate at a time. Nearest neighbours come from a k-d tree over (x, y, z). Marginal counts
// come from a sorted column if the marginal has one column, else from a tree of its own.
// foreach_target.h includes this file once per instruction set, so it has no ordinary include guard.
#if defined(KOLMO_KNN_TREES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KOLMO_KNN_TREES_INL
#undef KOLMO_KNN_TREES_INL
#else
#define KOLMO_KNN_TREES_INL
#endif

#include <cmath>
#include <numeric>
#include <utility>

#include "kolmo/knn/leaf-inl.hpp"
#include "kolmo/knn/search-inl.hpp"
#include "kolmo/knn/workbench.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

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

/// Some columns of the points of a leaf of the joint tree, and how far from each to count in them.
template <class T>
struct Around {  // unused slots repeat the last point
  static constexpr int leaf = Tree<T>::leaf;
  T q[max_columns][leaf], radius[max_columns][leaf];
  std::uint32_t row[leaf];
  int points;  // the slots in use

  void take(const Tree<T>& tree, std::int64_t l) {
    points = int(tree.size(l, l + 1));
    std::copy_n(tree.row + l * leaf, leaf, row);
    for (int c = 0; c < tree.d; ++c)
      for (int i = 0; i < leaf; ++i) q[c][i] = tree.leaf_points(l)[c * leaf + std::min(i, points - 1)];
  }
};

/// Counts the points near each point of a leaf in the columns of a marginal, which are columns `of` of the joint space.
template <class T>
HWY_NOINLINE void count_near(const Marginal<T>& m, const int* of, const Around<T>& around,
                             const KsgProblem<T>& p, std::int64_t* count) {
  const int columns = m.columns.count;
  if (columns == 1) count_near(m.cells, p.n, around.q[of[0]], around.radius[of[0]], count);
  for (int i = 0; i < around.points; ++i) {
    T q[max_columns], radius[max_columns];
    for (int c = 0; c < columns; ++c) q[c] = around.q[of[c]][i], radius[c] = around.radius[of[c]][i];
    if (columns > 1)
      count[i] = with_columns(columns, [&]<int D> { return Search<D, T>(m.tree).count(q, radius); });
    const std::int64_t row = around.row[i];
    const std::int64_t from = std::max<std::int64_t>(0, row - p.theiler),
                       to = std::min(p.n - 1, row + p.theiler);
    for (std::int64_t j = from; j <= to; ++j) {
      bool in = j == row || p.excluded(row, j);
      for (int c = 0; c < columns && in; ++c)
        in = (j == row ? T(0) : std::abs(m.columns(c, j) - q[c])) < radius[c];
      count[i] -= in;
    }
  }
}

/// Finds the radii of the marginal counts around the points of a leaf: ksg1 has one for all columns, ksg2 one for x, y and z each.
/// A point counts if it is nearer than the radius.
template <int D, class T>
class Radii {
 public:
  Radii(const KsgProblem<T>& p, const Tree<T>& tree, const Columns<T>& joint)
      : p_(p), joint_(joint), leaves_(tree, int(p.k)), points_(tree) {}

  void find(std::int64_t l, Around<T>& around) {
    if constexpr (D >= 2 && D <= most_by_leaf)
      if (p_.algorithm == KsgAlgorithm::ksg1) {
        leaves_.nearest(l, p_.theiler > 0,
                        [&](std::uint32_t i, std::uint32_t j) { return p_.excluded(i, j); });
        for (int i = 0; i < around.points; ++i) fill(around, 0, joint_.count, i, leaves_.kth()[i]);
        return;
      }
    const int ends[] = {p_.dx, p_.dx + p_.dy, joint_.count};
    for (int i = 0; i < around.points; ++i) {
      T q[max_columns];
      for (int c = 0; c < joint_.count; ++c) q[c] = around.q[c][i];
      Nearest<T> best(int(p_.k));
      points_.nearest(q, l, best, [&](std::uint32_t other) { return p_.excluded(around.row[i], other); });
      if (p_.algorithm == KsgAlgorithm::ksg1) {
        fill(around, 0, joint_.count, i, best.bound());
        continue;
      }
      for (int v = 0, c = 0; v < 3; c = ends[v++]) {
        T r = 0;
        for (int m = 0; m < best.k; ++m)
          for (int j = c; j < ends[v]; ++j) r = std::max(r, std::abs(joint_(j, best.row[m]) - q[j]));
        fill(around, c, ends[v], i, std::nextafter(r, std::numeric_limits<T>::infinity()));
      }
    }
  }

 private:
  /// With more columns the points of a leaf have too few leaves near them in common.
  static constexpr int most_by_leaf = 5;

  /// Sets the radius of a point, and of the unused slots behind the last one.
  static void fill(Around<T>& around, int column, int end, int i, T radius) {
    for (int c = column; c < end; ++c)
      std::fill(around.radius[c] + i, around.radius[c] + (i + 1 < around.points ? i + 1 : around.leaf),
                radius);
  }

  const KsgProblem<T>& p_;
  const Columns<T>& joint_;
  LeafSearch<D, T> leaves_;
  Search<D, T> points_;
};

template <int D, class T>
void estimate(const KsgProblem<T>& p, const Workbench<T>& w, const Columns<T>& joint, double* value,
              double* local, int threads) {
  const bool conditional = p.conditional();
  const double constant = PsiSum::constant(p.algorithm, conditional, p.k, p.n);
  std::fill_n(w.sums, threads, PsiSum{});
  int first[max_columns], second[max_columns];  // columns of the joint space
  std::iota(first, first + p.dx, 0), std::iota(first + p.dx, first + p.dx + p.dz, p.dx + p.dy);
  std::iota(second, second + p.dy + p.dz, p.dx);
  constexpr std::int64_t leaf = Tree<T>::leaf, leaves_per_item = 16;
  parallel_for(threads, (w.joint.leaves + leaves_per_item - 1) / leaves_per_item,
               [&](std::int64_t item, int thread) {
                 PsiSum sum;
                 Radii<D, T> radii(p, w.joint, joint);
                 Around<T> around;
                 std::int64_t in_first[leaf], in_second[leaf], in_condition[leaf];
                 const std::int64_t end = std::min(w.joint.leaves, (item + 1) * leaves_per_item);
                 for (std::int64_t l = item * leaves_per_item; l < end; ++l) {
                   around.take(w.joint, l);
                   radii.find(l, around);
                   count_near(w.first, first, around, p, in_first);
                   count_near(w.second, second, around, p, in_second);
                   if (conditional) count_near(w.condition, first + p.dx, around, p, in_condition);
                   for (int i = 0; i < around.points; ++i) {
                     std::int64_t term = -w.terms[in_first[i]].marginal - w.terms[in_second[i]].marginal;
                     if (conditional) term += w.terms[in_condition[i]].condition;
                     sum.add(term);
                     if (local) local[around.row[i]] = PsiSum::local(term, constant);
                   }
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

}  // namespace HWY_NAMESPACE
}  // namespace kolmo::knn
HWY_AFTER_NAMESPACE();
#endif
