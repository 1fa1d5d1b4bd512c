#pragma once
// What one thread does for one point of one estimate; included by ksg.cuh.
#include "kolmo/device/ksg.cuh"

namespace kolmo::cuda {
namespace {

/// The k smallest of what it is given. The first K - k places are taken by -infinity, so that the k-th
/// smallest always stands last and the array stays in registers.
template <int K, class T>
struct Smallest {
  T best[K];
  __device__ explicit Smallest(int k) {
#pragma unroll
    for (int i = 0; i < K; ++i) best[i] = i < K - k ? -T(INFINITY) : T(INFINITY);
  }
  __device__ T largest() const { return best[K - 1]; }
  __device__ void add(T v) {
    if (!(v < best[K - 1])) return;
#pragma unroll
    for (int i = 0; i < K; ++i) {
      const T low = best[i] < v ? best[i] : v;
      v = best[i] < v ? v : best[i], best[i] = low;
    }
  }
};

/// D: 111 or 110 for one column each of x, y (and z), 0 for any.
template <int D, bool ByEstimate, class T>
struct KsgPoint {
  const KsgPlan<T>& p;
  const T *x, *key;  // x of this thread's estimate
  std::int64_t i, begin, end;
  bool active;

  __device__ int dx() const { return D ? 1 : p.dx; }
  __device__ int dy() const { return D ? 1 : p.dy; }
  __device__ int dz() const { return D == 111 ? 1 : D == 110 ? 0 : p.dz; }
  __device__ T x_distance(std::int64_t j) const { return spread(x, dx(), p.column_step, p.row_step, j); }
  __device__ T y_distance(std::int64_t j) const { return spread(p.yz, dy(), p.n, 1, j); }
  __device__ T z_distance(std::int64_t j) const { return spread(p.yz + dy() * p.n, dz(), p.n, 1, j); }
  /// True when any lane that shares the point says so.
  __device__ static bool any(bool mine) { return ByEstimate ? __any_sync(~0u, mine) != 0 : mine; }
  __device__ bool neighbour(std::int64_t j) const { return !p.theiler || !p.excluded(p.row[i], p.row[j]); }

  /// Calls f(j) for the points j != i whose key is nearer than limit(), outwards on both sides at once. When
  /// the lanes of a warp share the point they stop together.
  template <class Limit, class F>
  __device__ void around(Limit limit, F f) const {
    bool left = true, right = true;
    for (std::int64_t o = 1; left || right; ++o) {
      left = left && i - o >= begin && any(key[i] - key[i - o] < limit());
      if (left && neighbour(i - o)) f(i - o);
      right = right && i + o < end && any(key[i + o] - key[i] < limit());
      if (right && neighbour(i + o)) f(i + o);
    }
  }

 private:
  __device__ T spread(const T* column, int count, std::int64_t column_step, std::int64_t step,
                      std::int64_t j) const {
    T far = 0;
    for (int c = 0; c < count; ++c, column += column_step) {
      const T d = distance_of(column[j * step], column[i * step]);
      far = d > far ? d : far;
    }
    return far;
  }
};

template <class T>
__device__ T larger(T a, T b) {
  return a > b ? a : b;
}
__device__ inline double above(double v) { return nextafter(v, INFINITY); }
__device__ inline float above(float v) { return nextafterf(v, INFINITY); }

/// The radii of the marginal counts: the k-th distance, or for ksg2 just above what the k neighbours span.
template <class T>
struct Radii {
  T x, y, z;
};
template <int K, class Point, class T>
__device__ Radii<T> find_radii(const Point& me, const Smallest<K, T>& nearest) {
  const T eps = nearest.largest();
  if (me.p.first_kind) return {eps, eps, eps};
  const T reach = above(eps);
  const auto distance = [&](std::int64_t j) {
    return larger(me.x_distance(j), larger(me.y_distance(j), me.z_distance(j)));
  };
  int missing = me.p.k, ties = 0;
  me.around([=] { return reach; },
            [&](std::int64_t j) {
              const T d = distance(j);
              missing -= d < eps, ties += d == eps;
            });
  // Of several points exactly at the k-th distance, the lower rows are neighbours.
  std::int64_t last_row = ties == missing ? me.p.n : -1;
  for (bool search = ties > missing; Point::any(search); search = --missing > 0 && search) {
    std::int64_t next = me.p.n;
    me.around([=] { return reach; },
              [&](std::int64_t j) {
                const std::int64_t row = me.p.row[j];
                if (distance(j) == eps && row > last_row && row < next) next = row;
              });
    if (search) last_row = next;
  }
  Radii<T> r{0, 0, 0};
  me.around([=] { return reach; },
            [&](std::int64_t j) {
              const T d = distance(j);
              if (!(d < eps || (d == eps && me.p.row[j] <= last_row))) return;
              r.x = larger(r.x, me.x_distance(j)), r.y = larger(r.y, me.y_distance(j)),
              r.z = larger(r.z, me.z_distance(j));
            });
  return {above(r.x), above(r.y), above(r.z)};
}

/// Points of the sorted column with |v - q| < radius, q among them.
template <class T>
__device__ std::int64_t count_sorted(const T* v, std::int64_t begin, std::int64_t end, T q, T radius) {
  if (!(T(0) < radius)) return 0;
  std::int64_t low = begin, high = end;  // the first inside
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (v[middle] < q && !(q - v[middle] < radius))
      low = middle + 1;
    else
      high = middle;
  }
  const std::int64_t first = low;
  high = end;  // the first beyond
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (v[middle] < q || v[middle] - q < radius)
      low = middle + 1;
    else
      high = middle;
  }
  return low - first;
}

struct KsgCounts {
  std::int64_t condition, first, second;  // z, (x, z) and (y, z); or x and y
};
template <class Point, class T>
__device__ KsgCounts count_marginals(const Point& me, const Radii<T>& r, std::int64_t alternative) {
  const auto& p = me.p;
  KsgCounts n{0, 0, 0};
  if (me.dz()) {
    me.around([=] { return r.z; },
              [&](std::int64_t j) {
                const bool in = me.z_distance(j) < r.z;
                n.condition += in, n.first += in && me.x_distance(j) < r.x,
                    n.second += in && me.y_distance(j) < r.y;
              });
    return n;
  }
  me.around([=] { return r.y; }, [&](std::int64_t j) { n.second += me.y_distance(j) < r.y; });
  if (p.sorted_x) {
    const T* column = p.sorted_x + alternative * p.n;
    n.first = me.active ? count_sorted(column, me.begin, me.end, me.x[me.i * p.row_step], r.x) : 0;
    n.first -= n.first > 0;  // the point itself
    const std::int64_t row = p.row[me.i], from = row - p.theiler, to = row + p.theiler;
    for (std::int64_t other = from < me.begin ? me.begin : from; other <= to && other < me.end; ++other)
      n.first -= other != row && p.excluded(row, other) && me.x_distance(p.at[other]) < r.x;
  } else {
    for (std::int64_t j = me.begin; j < me.end; ++j)
      n.first += j != me.i && me.neighbour(j) && me.x_distance(j) < r.x;
  }
  return n;
}

/// A warp's share of an estimation: `count` points from `first` for 32 estimates, or 32 points for one.
template <int K, int D, bool ByEstimate, class T>
__device__ void ksg_points(const KsgPlan<T>& p, std::int64_t first, std::int64_t lane, std::int64_t count,
                           std::int64_t group) {
  const std::int64_t mine = ByEstimate ? group * 32 + lane : group;
  const bool active = mine < p.lanes;
  const std::int64_t l = active ? mine : p.lanes - 1, number = p.first_lane + l, b = number / p.e;
  PsiSum sum;
  int problem = -1;
  const auto flush = [&] {
    if (problem < 0 || !active || (!sum.high && !sum.low)) return;
    PsiSum* to = p.sums + std::int64_t(problem) * p.b * p.e + number;
    atomicAdd(reinterpret_cast<unsigned long long*>(&to->high), static_cast<unsigned long long>(sum.high));
    atomicAdd(reinterpret_cast<unsigned long long*>(&to->low), static_cast<unsigned long long>(sum.low));
    sum = {};
  };
  for (std::int64_t step = 0; step < (ByEstimate ? count : 1); ++step) {
    const std::int64_t i = first + (ByEstimate ? step : lane);
    if (i >= p.n) break;
    const auto range = p.problem_of(i);
    if (range.problem != problem) flush(), problem = range.problem;
    const KsgPoint<D, ByEstimate, T> me{p, p.x + l * p.lane_step, p.key(), i, range.begin, range.end, active};
    Smallest<K, T> nearest(p.k);
    me.around([&] { return nearest.largest(); },
              [&](std::int64_t j) {
                nearest.add(larger(me.x_distance(j), larger(me.y_distance(j), me.z_distance(j))));
              });
    const Radii<T> r = find_radii(me, nearest);
    const KsgCounts n = count_marginals(me, r, b);
    const std::int64_t term =
        (p.dz ? p.terms[n.condition].condition : 0) - p.terms[n.first].marginal - p.terms[n.second].marginal;
    sum.add(term);
    if (p.local && active && number % p.e == 0)
      p.local[b * p.n + p.row[i]] = PsiSum::local(term, p.constants[range.problem]);
  }
  flush();
}

}  // namespace
}  // namespace kolmo::cuda
