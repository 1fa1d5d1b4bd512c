#pragma once
// Estimates by trees: a warp searches for 32 points that are near each other.
#include "kolmo/knn/ksg_point.cuh"
#include "kolmo/knn/ksg_space.cuh"

namespace kolmo::cuda {
namespace {

/// One estimate: its observed alternative of x and what all kernels of it share.
template <class T>
struct TreeEstimate {
  KsgPlan<T> p;
  std::int64_t number;  // counts the alternatives and their estimates
  // The radii within which the marginals of each row are counted. ksg1 has one array for all three, the distance of the k-th neighbour.
  T *x_radius, *y_radius, *z_radius;
  std::int64_t* term;  // of each row, for local values; may be null

  /// Adds the terms of the rows that the lanes of a warp have found. A lane without a row has problem -1.
  __device__ void add(std::int64_t row, int problem, std::int64_t value) const {
    if (term && problem >= 0) term[row] += value;
    const int first = __shfl_sync(~0u, problem, 0);
    if (!__all_sync(~0u, problem == first || problem < 0)) {
      if (problem >= 0) add(problem, value);
      return;
    }
    value = warp_sum(problem < 0 ? 0 : value);  // at most 32 * 2^57
    if (first >= 0 && threadIdx.x % 32 == 0) add(first, value);
  }

 private:
  __device__ void add(int problem, std::int64_t value) const {
    PsiSum part;
    part.add(value);
    PsiSum* const to = p.sums + problem * p.b * p.e + number;
    atomicAdd(reinterpret_cast<unsigned long long*>(&to->high), static_cast<unsigned long long>(part.high));
    atomicAdd(reinterpret_cast<unsigned long long*>(&to->low), static_cast<unsigned long long>(part.low));
  }
};

/// The point of one lane in the joint space.
template <int D, class T, class S>
struct TreePoint {
  const KsgPlan<T>& p;
  const Space<T, S>& s;
  const Packet<D, S> packet;
  std::int64_t row, begin, end;

  __device__ TreePoint(const KsgPlan<T>& plan, const Space<T, S>& space, std::int64_t leaf)
      : p(plan), s(space), packet(s.tree, leaf), row(s.tree.row[packet.position]) {
    const auto range = p.problem_of(packet.position);
    begin = range.begin, end = range.end;
  }
  __device__ bool neighbour(std::int64_t at) const {
    return at != packet.position && at >= begin && at < end &&
           (!p.theiler || !p.excluded(row, packet.tree.row[at]));
  }
  /// The distance of a neighbour in one column, and in all, where the search found `far`.
  __device__ T apart(int c, std::int64_t at) const {
    if constexpr (Space<T, S>::imaged)
      return distance_of(s.value(c, packet.tree.row[at]), s.value(c, row));
    else
      return distance_of(packet.points(at / 32)[c * 32 + at % 32], packet.own[c]);
  }
  __device__ T distance(std::int64_t at, S far) const {
    if constexpr (!Space<T, S>::imaged) return far;
    T exact = 0;
#pragma unroll
    for (int c = 0; c < D; ++c) exact = larger(exact, apart(c, at));
    return exact;
  }
  /// Calls f(position, distance) for the neighbours that the search finds nearer than limit(), which may fall meanwhile.
  template <class Limit, class F>
  __device__ void around(Limit limit, F f) const {
    S reach = warp_max(limit());
    const auto within = [&](int) { return limit(); };
    packet.walk([&](int) { return reach; },
                [&](int level, std::int64_t index) {
                  return __any_sync(~0u, packet.overlap(level, index, within, within).some);
                },
                [&](std::int64_t leaf) {
                  const S* const points = packet.points(leaf);
#pragma unroll 4
                  for (int j = 0; j < 32; ++j) {
                    const S far = packet.distance(points, j);
                    if (far < limit() && neighbour(leaf * 32 + j)) f(leaf * 32 + j, far);
                  }
                  reach = warp_max(limit());
                });
  }
};

/// Finds the distance of the k-th neighbour from that of the k-th image: most images are nearer than it by so much that
/// they need only be counted, and the rest are measured.
template <int K, int D, class T>
__device__ T kth_distance(const TreePoint<D, T, float>& me, float kth) {
  const ImageBounds bounds = me.s.bounds(me.packet.own);
  const float nearer = bounds.tighter(bounds.tighter(kth)), limit = bounds.wider(bounds.wider(kth));
  int counted = 0;
  Smallest<K, T> open;
  Later later;
  const auto measure = [&](std::int64_t at) { open.add(me.distance(at, 0)); };
  me.around([&] { return limit; },
            [&](std::int64_t at, float far) {
              if (far < nearer)
                ++counted;
              else
                later.add(at, measure);
            });
  later.finish(measure);
  T found = open.best[0];
#pragma unroll
  for (int i = 1; i < K; ++i)
    if (i == me.p.k - 1 - counted) found = open.best[i];
  return found;
}

/// Finds the distance of the k-th neighbour of each point.
template <int K, int D, class T, class S>
__global__ void __launch_bounds__(tree_block) tree_nearest(TreeEstimate<T> e, Space<T, S> s) {
  const KsgPlan<T>& p = e.p;
  const std::int64_t leaf = thread_index() / 32;
  if (leaf >= s.tree.leaves) return;
  const TreePoint<D, T, S> me(p, s, leaf);
  Smallest<K, S> nearest;
#pragma unroll
  for (int i = 0; i < K; ++i)
    if (i < K - p.k) nearest.best[i] = -S(INFINITY);  // so that the last one is the k-th
  me.around([&] { return nearest.best[K - 1]; }, [&](std::int64_t, S far) { nearest.add(far); });
  T kth;
  if constexpr (Space<T, S>::imaged)
    kth = kth_distance<K>(me, nearest.best[K - 1]);
  else
    kth = nearest.best[K - 1];
  if (!me.packet.spare()) e.x_radius[me.row] = kth;
}

/// A marginal says which term of the estimator its counts give.
enum class Marginal { condition, first, second };
template <class T>
__device__ std::int64_t term_of(const KsgPlan<T>& p, Marginal m, int count) {
  const PsiTerm& t = p.terms[count < 0 ? 0 : count];  // data that are not finite can make it negative
  return m == Marginal::condition ? t.condition : -t.marginal;
}

/// The radii of the columns of a marginal, of which the first are those of x or y.
template <class T>
struct MarginalRadii {
  int first;
  T of_first, of_z;
  __device__ T operator()(int column) const { return column < first ? of_first : of_z; }
};

template <class T, class S>
__device__ MarginalRadii<T> radii_of(const TreeEstimate<T>& e, const Space<T, S>& s, Marginal m,
                                     std::int64_t row) {
  return {m == Marginal::condition ? 0 : s.columns - e.p.dz,
          (m == Marginal::second ? e.y_radius : e.x_radius)[row], e.z_radius[row]};
}

/// Whether a row is within the radii of a point.
template <int D, class T, class S>
__device__ bool row_within(const Space<T, S>& s, std::int64_t row, const T (&own)[D],
                           const MarginalRadii<T>& radii) {
  bool in = true;
#pragma unroll
  for (int c = 0; c < D; ++c) in = in && distance_of(s.value(c, row), own[c]) < radii(c);
  return in;
}

/// The number of rows within the radii that are no neighbours: the row itself, and its Theiler window.
template <int D, class T, class S>
__device__ int count_excluded(const KsgPlan<T>& p, const Space<T, S>& s, std::int64_t row,
                              const MarginalRadii<T>& radii, std::int64_t begin, std::int64_t end) {
  int count = T(0) < radii(0) && T(0) < radii(D - 1);
  if (!p.theiler) return count;
  T own[D];
  s.values(row, own);
  const auto add = [&](std::int64_t other) { count += row_within(s, other, own, radii); };
  for (std::int64_t other = row + 1; other < end && p.excluded(row, other); ++other) add(other);
  for (std::int64_t other = row - 1; other >= begin && p.excluded(row, other); --other) add(other);
  return count;
}

/// Counts the neighbours of each point in a marginal of several columns.
template <int D, class T, class S>
__global__ void __launch_bounds__(tree_block) tree_count(TreeEstimate<T> e, Space<T, S> s, Marginal m) {
  const KsgPlan<T>& p = e.p;
  const std::int64_t leaf = thread_index() / 32;
  if (leaf >= s.tree.leaves) return;
  const Packet<D, S> me(s.tree, leaf);
  const auto range = p.problem_of(me.position);
  const std::int64_t row = s.tree.row[me.position];
  const MarginalRadii<T> radii = radii_of(e, s, m, row);
  const auto bounds = s.bounds(me.own);
  const MarginalRadii<S> outer{radii.first, bounds.outer(radii.of_first), bounds.outer(radii.of_z)};
  const MarginalRadii<S> inner{radii.first, bounds.inner(radii.of_first), bounds.inner(radii.of_z)};
  const MarginalRadii<S> reach{radii.first, warp_max(outer.of_first), warp_max(outer.of_z)};
  int count = 0;
  Later later;
  const auto measure = [&](std::int64_t at) {
    T own[D];
    s.values(row, own);
    count += row_within(s, s.tree.row[at], own, radii);
  };
  me.walk(
      reach,
      [&](int level, std::int64_t index) {
        const auto overlap = me.overlap(level, index, outer, inner);
        const std::int64_t size = std::int64_t(32) << 5 * level, first = index * size;
        const std::int64_t last = first + size < s.tree.n ? first + size : s.tree.n;
        const bool some = overlap.some && first < range.end && last > range.begin;
        const bool all = some && overlap.all && first >= range.begin && last <= range.end;
        if (__any_sync(~0u, some && !all)) return true;
        if (all) count += int(last - first);
        return false;
      },
      [&](std::int64_t other) {
        const S* const points = me.points(other);
#pragma unroll 4
        for (int j = 0; j < 32; ++j) {
          const std::int64_t at = other * 32 + j;
          const bool in_problem = at >= range.begin && at < range.end, in = me.within(points, j, inner);
          count += in && in_problem;
          if constexpr (Space<T, S>::imaged)
            if (!in && in_problem && me.within(points, j, outer)) later.add(at, measure);
        }
      });
  later.finish(measure);
  count -= count_excluded<D>(p, s, row, radii, range.begin, range.end);
  e.add(row, me.spare() ? -1 : range.problem, term_of(p, m, count));
}

/// Returns what places_within() returns for row `row` in a space of one column. Images decide as far as they can.
template <class T>
__device__ Places places_by_images(const Space<T, float>& s, std::int64_t begin, std::int64_t end,
                                   std::int64_t row, T radius) {
  const double scale = s.template scale<1>();
  const float own[1] = {s.searched(0, row, scale)};
  const ImageBounds bounds = s.bounds(own);
  const float outer = bounds.outer(radius), inner = bounds.inner(radius);
  const T *const v = s.ascending, q = s.value(0, row);
  const float* const image = s.ascending_image;
  if (!(T(0) < radius)) return {int(begin), int(begin)};
  return places_between(
      begin, end,
      [&](int i) {
        const float apart = own[0] - image[i];
        return apart < inner ? false : apart >= outer || (v[i] < q && !(q - v[i] < radius));
      },
      [&](int i) {
        const float apart = image[i] - own[0];
        return apart < inner || (apart < outer && (v[i] < q || v[i] - q < radius));
      });
}

/// Counts the neighbours of each point in a marginal of one column. The points are taken in the order of a tree, so that
/// the lanes of a warp search in the same places.
template <class T, class S>
__global__ void __launch_bounds__(tree_block)
    column_count(TreeEstimate<T> e, Space<T, S> s, const std::uint32_t* order, Marginal m) {
  const KsgPlan<T>& p = e.p;
  const std::int64_t i = thread_index(), last = p.n - 1;
  if (i - threadIdx.x % 32 > last) return;
  const std::int64_t row = order[i < last ? i : last];
  const auto range = p.problem_of(row);
  const MarginalRadii<T> radii = radii_of(e, s, m, row);
  Places in;
  if constexpr (Space<T, S>::imaged)
    in = places_by_images(s, range.begin, range.end, row, radii(0));
  else
    in = places_within(s.ascending, range.begin, range.end, s.value(0, row), radii(0));
  const int count = in.end - in.begin - count_excluded<1>(p, s, row, radii, range.begin, range.end);
  e.add(row, i > last ? -1 : range.problem, term_of(p, m, count));
}

template <class T>
__global__ void tree_start(TreeEstimate<T> e) {
  for (std::int64_t r = thread_index(); r < e.p.n; r += thread_count()) e.term[r] = 0;
}
template <class T>
__global__ void tree_local(TreeEstimate<T> e) {
  const KsgPlan<T>& p = e.p;
  for (std::int64_t r = thread_index(); r < p.n; r += thread_count())
    p.local[e.number / p.e * p.n + r] =
        one_nan(PsiSum::local(e.term[r], p.constants[p.problem_of(r).problem]));
}

}  // namespace
}  // namespace kolmo::cuda
