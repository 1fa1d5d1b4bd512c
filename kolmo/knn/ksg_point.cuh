#pragma once
// One point of one estimate, with its neighbours distributed over the lanes of a warp.
#include <bit>
#include <type_traits>

#include "kolmo/device/warp.cuh"
#include "kolmo/knn/ksg.cuh"

namespace kolmo::cuda {
namespace {

constexpr int ksg_block = 64;  // small, because a block lasts as long as its slowest warp

/// Keeps the K smallest of the values added, ascending.
template <int K, class T>
struct Smallest {
  T best[K];
  __device__ Smallest() {
#pragma unroll
    for (int i = 0; i < K; ++i) best[i] = T(INFINITY);
  }
  __device__ void add(T v) {
#pragma unroll
    for (int i = 0; i < K; ++i) {
      const T low = best[i] < v ? best[i] : v;
      v = best[i] < v ? v : best[i], best[i] = low;
    }
  }
  /// The k-th smallest value over all lanes. Values must not be negative.
  __device__ T across_warp(int k) const {
    if constexpr (K > 16)
      return by_bits(k);
    else
      return by_taking(k);
  }

 private:
  __device__ T by_taking(int k) const {
    Smallest left = *this;
    T smallest = T(INFINITY);
    for (int taken = 0; taken < k; ++taken) {
      smallest = warp_min(left.best[0]);
      const unsigned holders = __ballot_sync(~0u, left.best[0] == smallest);
      if ((holders & (0u - holders)) != 1u << threadIdx.x % 32) continue;
#pragma unroll
      for (int i = 0; i < K - 1; ++i) left.best[i] = left.best[i + 1];
      left.best[K - 1] = T(INFINITY);
    }
    return smallest;
  }
  /// Finds the same value as the largest bit pattern with fewer than k values below it, since the bit
  /// patterns have the order of the values.
  __device__ T by_bits(int k) const {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    Bits pattern = 0;
    for (int bit = int(sizeof(T)) * 8 - 2; bit >= 0; --bit) {
      const T v = std::bit_cast<T>(pattern | Bits(1) << bit);
      int below = 0;
#pragma unroll
      for (int i = 0; i < K; ++i) below += best[i] < v;
      if (v <= T(INFINITY) && warp_sum(below) < k) pattern |= Bits(1) << bit;
    }
    return std::bit_cast<T>(pattern);
  }
};

/// One point of one estimate. D is 111 if x, y and z have one column each, 110 if x and y have and there is
/// no z, and 0 in all other cases. Step is the distance between rows of x.
template <int D, int Step, class T>
struct KsgPoint {
  const KsgPlan<T>& p;
  const T *x, *y, *z;  // x belongs to this estimate, y and z to all
  int i, begin, end;
  T own_x, own_y, own_z;  // values of point i in the first columns

  __device__ KsgPoint(const KsgPlan<T>& plan, const T* of_estimate, std::int64_t point, std::int64_t first,
                      std::int64_t last)
      : p(plan),
        x(of_estimate),
        y(plan.yz),
        z(plan.yz + dy() * plan.n),
        i(int(point)),
        begin(int(first)),
        end(int(last)),
        own_x(x ? x[i * Step] : T(0)),
        own_y(y[i]),
        own_z(dz() ? z[i] : T(0)) {}

  __device__ int dx() const { return D ? 1 : p.dx; }
  __device__ int dy() const { return D ? 1 : p.dy; }
  __device__ int dz() const { return D == 111 ? 1 : D == 110 ? 0 : p.dz; }
  __device__ T x_distance(int j) const {
    return D ? distance_of(own_x, x[j * Step]) : distance_of(x, p.dx, p.column_step, i * Step, j * Step);
  }
  __device__ T y_distance(int j) const {
    return D ? distance_of(own_y, y[j]) : distance_of(y, p.dy, p.n, i, j);
  }
  __device__ T z_distance(int j) const {
    return D == 110 ? T(0) : D ? distance_of(own_z, z[j]) : distance_of(z, p.dz, p.n, i, j);
  }
  __device__ T distance(int j) const { return larger(x_distance(j), larger(y_distance(j), z_distance(j))); }
  __device__ bool neighbour(int j) const { return !p.theiler || !p.excluded(p.row(i), p.row(j)); }

  /// Calls f(j) for the points j != i whose key is nearer than limit(), from i outwards on both sides. Calls
  /// after_step() after every 32 points on each side. The limit must be the same in all lanes.
  template <class Limit, class F, class AfterStep>
  __device__ void around(Limit limit, F f, AfterStep after_step) const {
    const T *key = p.key(), mine = key[i];
    bool left = true, right = true;
    for (int o = 1 + int(threadIdx.x % 32); left || right; o += 32) {
      const bool on_left = left && o <= i - begin && mine - key[i - o] < limit();
      if (on_left && neighbour(i - o)) f(i - o);
      const bool on_right = right && o < end - i && key[i + o] - mine < limit();
      if (on_right && neighbour(i + o)) f(i + o);
      left = __all_sync(~0u, on_left), right = __all_sync(~0u, on_right);
      after_step();
    }
  }
  template <class F>
  __device__ void around(T limit, F f) const {
    around([=] { return limit; }, f, [] {});
  }

  /// Distance of the k-th neighbour.
  template <int K>
  __device__ T kth_distance() const {
    Smallest<K, T> nearest;
    T limit = T(INFINITY);  // a bound: the k-th neighbour is not farther
    int step = 0;
    bool added = false;
    around([&] { return limit; },
           [&](int j) {
             const T d = distance(j);
             if (d < limit) nearest.add(d), added = true;
           },
           [&] {
             if (++step % (K > 16 ? 16 : 4)) return;  // computing the limit costs more than a step
             if (__any_sync(~0u, added)) limit = nearest.across_warp(p.k);
             added = false;
           });
    return nearest.across_warp(p.k);
  }
};

__device__ inline double above(double v) { return nextafter(v, INFINITY); }
__device__ inline float above(float v) { return nextafterf(v, INFINITY); }

/// The radii of the marginal counts: the k-th distance, or for ksg2 slightly more than the extent of the k
/// neighbours.
template <class T>
struct Radii {
  T x, y, z;
};
template <class Point, class T>
__device__ Radii<T> find_radii(const Point& me, T eps) {
  if (me.p.first_kind) return {eps, eps, eps};
  const T reach = above(eps);
  int nearer = 0, ties = 0;
  me.around(reach, [&](int j) {
    const T d = me.distance(j);
    nearer += d < eps, ties += d == eps;
  });
  const int missing = me.p.k - warp_sum(nearer);
  // Of several points exactly at the k-th distance, those with the lowest rows count as neighbours.
  std::int64_t last_row = me.p.n;
  if (warp_sum(ties) > missing) {
    last_row = -1;
    for (int found = 0; found < missing; ++found) {
      std::int64_t next = me.p.n;
      me.around(reach, [&](int j) {
        const std::int64_t row = me.p.row(j);
        if (row > last_row && row < next && me.distance(j) == eps) next = row;
      });
      last_row = warp_min(next);
    }
  }
  Radii<T> r{0, 0, 0};
  me.around(reach, [&](int j) {
    const T d = me.distance(j);
    if (!(d < eps || (d == eps && me.p.row(j) <= last_row))) return;
    r.x = larger(r.x, me.x_distance(j)), r.y = larger(r.y, me.y_distance(j)),
    r.z = larger(r.z, me.z_distance(j));
  });
  return {above(warp_max(r.x)), above(warp_max(r.y)), above(warp_max(r.z))};
}

struct Places {
  int begin, end;
};
/// Finds the places behind those that are `before` and among those that are `up_to`, in a range that begins with them.
template <class Before, class UpTo>
__device__ Places places_between(std::int64_t begin, std::int64_t end, Before before, UpTo up_to) {
  int low = int(begin), high = int(end);
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (before(middle))
      low = middle + 1;
    else
      high = middle;
  }
  const int first = low;
  high = int(end);
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (up_to(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return {first, low};
}
/// Finds the places in an ascending column whose values are within `radius` of q, which is one of the values.
template <class T>
__device__ Places places_within(const T* v, std::int64_t begin, std::int64_t end, T q, T radius) {
  if (!(T(0) < radius)) return {int(begin), int(begin)};
  return places_between(
      begin, end, [&](int i) { return v[i] < q && !(q - v[i] < radius); },
      [&](int i) { return v[i] < q || v[i] - q < radius; });
}

struct KsgCounts {
  int condition, first, second;  // counts in z, (x, z) and (y, z); without z in x and y
};
template <class Point, class T>
__device__ KsgCounts count_marginals(const Point& me, const Radii<T>& r, std::int64_t alternative) {
  const auto& p = me.p;
  int condition = 0, first = 0, second = 0;
  if (me.dz()) {
    me.around(r.z, [&](int j) {
      const bool in = me.z_distance(j) < r.z;
      condition += in, first += in && me.x_distance(j) < r.x, second += in && me.y_distance(j) < r.y;
    });
    return {warp_sum(condition), warp_sum(first), warp_sum(second)};
  }
  me.around(r.y, [&](int j) { second += me.y_distance(j) < r.y; });
  const int lane = int(threadIdx.x % 32);
  if (me.dx() > 1) {
    for (int j = me.begin + lane; j < me.end; j += 32)
      first += j != me.i && me.neighbour(j) && me.x_distance(j) < r.x;
    return {0, warp_sum(first), warp_sum(second)};
  }
  const Places in = places_within(p.sorted_x(alternative, 0), me.begin, me.end, me.own_x, r.x);
  const std::int64_t row = p.row(me.i), from = row - p.theiler, to = row + p.theiler;
  for (std::int64_t other = (from < me.begin ? me.begin : from) + lane; other <= to && other < me.end;
       other += 32)
    first -= other != row && p.excluded(row, other) && me.x_distance(int(p.at[other])) < r.x;
  return {0, in.end - in.begin - (in.begin < in.end) + warp_sum(first), warp_sum(second)};
}

/// Computes the marginal counts of point i for one estimate.
template <int K, int D, class T>
__device__ KsgCounts ksg_counts(const KsgPlan<T>& p, std::int64_t i, std::int64_t begin, std::int64_t end,
                                std::int64_t lane) {
  const KsgPoint<D, 1, T> me(p, p.x + p.lane_offset(lane), i, begin, end);
  return count_marginals(me, find_radii(me, me.template kth_distance<K>()), (p.first_lane + lane) / p.e);
}

/// Sums the terms of one estimate's points.
template <class T>
class KsgTerms {
 public:
  __device__ KsgTerms(const KsgPlan<T>& p, std::int64_t lane) : p_(p), number_(p.first_lane + lane) {}

  __device__ void add(std::int64_t point, int problem, const KsgCounts& n) {
    if (problem != problem_) flush(), problem_ = problem;
    const std::int64_t term =
        (p_.dz ? of(n.condition).condition : 0) - of(n.first).marginal - of(n.second).marginal;
    sum_.add(term);
    if (p_.local && number_ % p_.e == 0)
      p_.local[number_ / p_.e * p_.n + p_.row(point)] = one_nan(PsiSum::local(term, p_.constants[problem]));
  }
  __device__ void flush() {
    if (problem_ < 0) return;
    PsiSum* to = p_.sums + problem_ * p_.b * p_.e + number_;
    atomicAdd(reinterpret_cast<unsigned long long*>(&to->high), static_cast<unsigned long long>(sum_.high));
    atomicAdd(reinterpret_cast<unsigned long long*>(&to->low), static_cast<unsigned long long>(sum_.low));
    sum_ = {};
  }

 private:
  /// The term of a count. Data that are not finite can make a count that excludes the point itself negative.
  __device__ PsiTerm of(int count) const { return p_.terms[count < 0 ? 0 : count]; }

  const KsgPlan<T>& p_;
  std::int64_t number_, problem_ = -1;
  PsiSum sum_;
};

/// Computes `per_warp` points of the estimate blockIdx.y by a warp.
template <int K, int D, class T>
__global__ void __launch_bounds__(ksg_block, K > 16 ? 4
                                             : D    ? 16
                                                    : 8) ksg_points(KsgPlan<T> p, int per_warp) {
  const std::int64_t first = thread_index() / 32 * per_warp, lane = blockIdx.y;
  KsgTerms<T> terms(p, lane);
  for (std::int64_t i = first; i < first + per_warp && i < p.n; ++i) {
    const auto range = p.problem_of(i);
    const KsgCounts n = ksg_counts<K, D>(p, i, range.begin, range.end, lane);
    if (threadIdx.x % 32 == 0) terms.add(i, range.problem, n);
  }
  terms.flush();
}

}  // namespace
}  // namespace kolmo::cuda
