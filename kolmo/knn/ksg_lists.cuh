#pragma once
// Many estimates of the same y and z: each point's neighbours in (y, z) are listed once, and the lanes of a
// warp compute 32 estimates of one point. This serves ksg1 with a condition, or with one column of x.
#include "kolmo/knn/listed_point.cuh"

namespace kolmo::cuda {
namespace {

constexpr int list_block = 256;
/// The most entries of a list. Within the k-th distance there are several times as many points in z as in (y, z), most of all
/// where z has two columns.
template <bool InZ>
constexpr int list_most = InZ ? 2048 : 1024;

/// Calls f(point, distance) for each neighbour of point i that is nearer than r, in z if InZ and in (y, z) if
/// not. The calls are spread over the threads of the block.
template <bool InZ, class T, class F>
__device__ void list_candidates(const KsgPlan<T>& p, std::int64_t i, const typename KsgPlan<T>::Range& range,
                                T r, F f) {
  const KsgPoint<0, 1, T> me(p, nullptr, i, range.begin, range.end);
  const Places window = places_within(p.key(), range.begin, range.end, p.key()[i], r);
  for (int j = window.begin + int(threadIdx.x); j < window.end; j += list_block) {
    const T d = InZ ? me.z_distance(j) : larger(me.y_distance(j), me.z_distance(j));
    if (d < r && j != i && me.neighbour(j)) f(j, d);
  }
}

/// Finds a radius within which point i has at most `cap` neighbours and, if possible, at least seven eighths of that.
template <bool InZ, class T>
__device__ T list_radius(const KsgPlan<T>& p, std::int64_t i, const typename KsgPlan<T>::Range& range,
                         std::int64_t cap) {
  __shared__ int total;
  if (range.end - range.begin <= cap) return T(INFINITY);
  const std::int64_t far = i + cap / 4 < range.end ? i + cap / 4 : i - cap / 4;
  const std::int64_t enough = cap / 8 * 7;
  T low = 0, high = T(INFINITY), r = distance_of(p.key()[far], p.key()[i]);
  if (!(T(0) < r)) r = (p.key()[range.end - 1] - p.key()[range.begin]) / 4096;
  for (int tries = 0; tries < 48; ++tries) {
    int mine = 0;
    list_candidates<InZ>(p, i, range, r, [&](int, T) { ++mine; });
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, mine);
    __syncthreads();
    const int count = total;
    __syncthreads();
    if (count > cap)
      high = r;
    else
      low = r;
    if (count <= cap && count >= enough) break;
    r = high < T(INFINITY) ? low + (high - low) / 2 : 2 * r;
  }
  return low;
}

/// Builds the list of one point, near_z or near_yz, by a block.
template <bool InZ, class T>
__global__ void __launch_bounds__(list_block) ksg_list(KsgPlan<T> p) {
  __shared__ T distance[list_most<InZ>];
  __shared__ std::uint32_t point[list_most<InZ>];
  __shared__ int length;
  const NeighbourList<T>& list = InZ ? p.near_z : p.near_yz;
  for (std::int64_t i = blockIdx.x; i < p.n; i += gridDim.x) {
    const auto range = p.problem_of(i);
    const T reach = list_radius<InZ>(p, i, range, list.cap);
    if (threadIdx.x == 0) length = 0;
    __syncthreads();
    list_candidates<InZ>(p, i, range, reach, [&](int j, T d) {
      const int to = atomicAdd(&length, 1);
      distance[to] = d, point[to] = std::uint32_t(j);
    });
    __syncthreads();
    int size = 1;
    while (size < length) size *= 2;
    for (int o = length + int(threadIdx.x); o < size; o += list_block)
      distance[o] = T(INFINITY), point[o] = ~0u;
    __syncthreads();
    for (int width = 2; width <= size; width *= 2)
      for (int apart = width / 2; apart; apart /= 2) {
        for (int o = int(threadIdx.x); o < size / 2; o += list_block) {
          const int a = o / apart * 2 * apart + o % apart, b = a + apart;
          const bool later = distance[b] < distance[a] || (distance[b] == distance[a] && point[b] < point[a]);
          if (later != ((a & width) != 0)) {
            const T d = distance[a];
            distance[a] = distance[b], distance[b] = d;
            const std::uint32_t j = point[a];
            point[a] = point[b], point[b] = j;
          }
        }
        __syncthreads();
      }
    for (int o = int(threadIdx.x); o < length; o += list_block) {
      list.distance[i * list.cap + o] = distance[o];
      list.point[i * list.cap + o] = InZ ? p.place_of(point[o]) : point[o];
    }
    if (threadIdx.x == 0) list.length[i] = std::uint32_t(length), list.reach[i] = reach;
    __syncthreads();
  }
}

constexpr int fill_rows = 16;

/// Fills x of the current lanes: each thread of a warp rearranges fill_rows rows for one lane of a group.
template <class T>
__global__ void ksg_fill_lists(KsgPlan<T> p) {
  if (thread_index() == 0) *p.open_count = 0;
  const std::int64_t groups = (p.lanes + 31) / 32, warp = thread_index() / 32;
  const std::int64_t l = warp % groups * 32 + threadIdx.x % 32, first = warp / groups * fill_rows;
  if (l < p.lanes) rearrange(p, l, first, first + fill_rows < p.n ? first + fill_rows : p.n);
}

/// The points of a block are near each other, so that its warps share what is in the L1 cache.
constexpr int listed_block = 224;

/// Computes `per_warp` points for the 32 estimates from 32 blockIdx.y on by a warp.
template <int K, int X, bool OneZ, class T>
__global__ void __launch_bounds__(listed_block, X > 1 ? 2 : 4) ksg_listed(KsgPlan<T> p, int per_warp) {
  __shared__ ListPart<T> parts[listed_block / 32];
  const std::int64_t group = std::int64_t(blockIdx.y) * 32, me = group + threadIdx.x % 32;
  const bool active = me < p.lanes;
  const std::int64_t lane = active ? me : p.lanes - 1, first = thread_index() / 32 * per_warp;
  const std::int64_t alternative = (p.first_lane + lane) / p.e;
  const auto x = unsigned(p.lane_offset(lane)), places = unsigned(p.place_offset(lane)),
             sorted_x = unsigned((1 + alternative * p.dx) * p.n);
  KsgTerms<T> terms(p, lane);
  for (std::int64_t i = first; i < first + per_warp && i < p.n; ++i) {
    const auto range = p.problem_of(i);
    const ListedPoint<K, X, OneZ, T> point{
        p, x, places, sorted_x, int(i), int(range.begin), int(range.end), parts[threadIdx.x / 32]};
    const T eps = point.kth_distance();
    const bool known = point.lists_reach(eps);
    const KsgCounts n = point.counts(known ? eps : T(0));
    if (!active) continue;
    if (known)
      terms.add(i, range.problem, n);
    else
      p.open[atomicAdd(p.open_count, 1ull)] = {eps, unsigned(i), unsigned(lane)};
  }
  if (active) terms.flush();
}

/// Calls f(x, y, z) for each neighbour that is nearer than r in z, with its distances. Loads of several points are in flight at
/// once, since few warps have such work.
template <int Step, class T, class F>
__device__ void near_in_z(const KsgPoint<0, Step, T>& me, T r, F f) {
  constexpr int batch = 4;
  const KsgPlan<T>& p = me.p;
  const Places window = places_within(p.key(), me.begin, me.end, p.key()[me.i], r);
  for (int first = window.begin; first < window.end; first += 32 * batch) {
    int at[batch];  // the point itself stands for what is no neighbour
    T x[batch], y[batch], z[batch];
    const auto measure = [&](T(&far)[batch], const T* column, int columns, std::int64_t column_step,
                             int step) {
#pragma unroll
      for (int a = 0; a < batch; ++a) far[a] = 0;
      for (int c = 0; c < columns; ++c, column += column_step) {
        const T own = column[me.i * step];
#pragma unroll
        for (int a = 0; a < batch; ++a) far[a] = larger(far[a], distance_of(column[at[a] * step], own));
      }
    };
#pragma unroll
    for (int a = 0; a < batch; ++a) {
      const int j = first + 32 * a + int(threadIdx.x % 32);
      at[a] = j < window.end && me.neighbour(j) ? j : me.i;
    }
    measure(z, me.z, p.dz, p.n, 1);
#pragma unroll
    for (int a = 0; a < batch; ++a)
      if (!(z[a] < r)) at[a] = me.i;
    measure(y, me.y, p.dy, p.n, 1);
    measure(x, me.x, p.dx, p.column_step, Step);
#pragma unroll
    for (int a = 0; a < batch; ++a)
      if (at[a] != me.i) f(x[a], y[a], z[a]);
  }
}

/// Computes the points of those lanes for which ksg_listed found too short a list.
template <int K, class T>
__global__ void __launch_bounds__(ksg_block, 8) ksg_open(KsgPlan<T> p) {
  const std::int64_t count = std::int64_t(*p.open_count);
  for (std::int64_t o = thread_index() / 32; o < count; o += thread_count() / 32) {
    const OpenPoint<T> at = p.open[o];
    const auto range = p.problem_of(at.point);
    const KsgPoint<0, 32, T> me(p, p.x + p.lane_offset(at.lane), at.point, range.begin, range.end);
    T eps = at.bound;
    if (!(eps <= p.near_yz.reach[at.point])) {
      Smallest<K, T> nearest;
      near_in_z(me, above(eps), [&](T x, T y, T z) {
        const T d = larger(x, larger(y, z));
        if (d < nearest.best[K - 1]) nearest.add(d);
      });
      eps = nearest.across_warp(p.k);
    }
    KsgCounts n{0, 0, 0};
    if (p.dz) {
      near_in_z(me, eps, [&](T x, T y, T) { ++n.condition, n.first += x < eps, n.second += y < eps; });
      n = {warp_sum(n.condition), warp_sum(n.first), warp_sum(n.second)};
    } else {
      n = count_marginals(me, Radii<T>{eps, eps, eps}, (p.first_lane + at.lane) / p.e);
    }
    if (threadIdx.x % 32) continue;
    KsgTerms<T> terms(p, at.lane);
    terms.add(at.point, range.problem, n), terms.flush();
  }
}

}  // namespace
}  // namespace kolmo::cuda
