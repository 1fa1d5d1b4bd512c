#pragma once
// Many estimates of the same y and z: each point's neighbours in (y, z) are listed once, and the lanes of a
// warp are 32 estimates of one point. ksg1 with a condition. Anonymous namespace: see grid.cuh.
#include "kolmo/device/ksg_point.cuh"

namespace kolmo::cuda {
namespace {

constexpr int list_block = 256, list_most = 1024;

/// The block's neighbours of point i nearer than r in (y, z): calls f(point, distance) for each, spread over
/// the threads.
template <class T, class F>
__device__ void list_candidates(const KsgPlan<T>& p, std::int64_t i, const typename KsgPlan<T>::Range& range,
                                T r, F f) {
  const KsgPoint<0, T> me{p, nullptr, i, range.begin, range.end};
  const Places window = places_within(p.key(), range.begin, range.end, p.key()[i], r);
  for (std::int64_t j = window.begin + threadIdx.x; j < window.end; j += list_block) {
    const T d = larger(me.y_distance(j), me.z_distance(j));
    if (d < r && j != i && me.neighbour(j)) f(j, d);
  }
}

/// A radius with at most p.cap neighbours nearer than it, and if it can be had at least half as many.
template <class T>
__device__ T list_radius(const KsgPlan<T>& p, std::int64_t i, const typename KsgPlan<T>::Range& range) {
  __shared__ int total;
  if (range.end - range.begin <= p.cap) return T(INFINITY);
  const std::int64_t far = i + p.cap / 4 < range.end ? i + p.cap / 4 : i - p.cap / 4;
  T low = 0, high = T(INFINITY), r = distance_of(p.key()[far], p.key()[i]);
  if (!(T(0) < r)) r = (p.key()[range.end - 1] - p.key()[range.begin]) / 4096;
  for (int tries = 0; tries < 48; ++tries) {
    int mine = 0;
    list_candidates(p, i, range, r, [&](std::int64_t, T) { ++mine; });
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, mine);
    __syncthreads();
    const int count = total;
    __syncthreads();
    if (count > p.cap)
      high = r;
    else
      low = r;
    if (count <= p.cap && 2 * count >= p.cap) break;
    r = high < T(INFINITY) ? low + (high - low) / 2 : 2 * r;
  }
  return low;
}

/// A block makes the list of one point.
template <class T>
__global__ void __launch_bounds__(list_block) ksg_list(KsgPlan<T> p) {
  __shared__ T distance[list_most];
  __shared__ std::uint32_t point[list_most];
  __shared__ int length;
  for (std::int64_t i = blockIdx.x; i < p.n; i += gridDim.x) {
    const auto range = p.problem_of(i);
    const T reach = list_radius(p, i, range);
    if (threadIdx.x == 0) length = 0;
    __syncthreads();
    list_candidates(p, i, range, reach, [&](std::int64_t j, T d) {
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
    for (int o = int(threadIdx.x); o < length; o += list_block)
      p.list_distance[i * p.cap + o] = distance[o], p.list_point[i * p.cap + o] = point[o];
    if (threadIdx.x == 0) p.list_length[i] = std::uint32_t(length), p.reach[i] = reach;
    __syncthreads();
  }
}

/// Point i for 32 estimates, one per lane. X: columns of x, 0 for any number. Z: one column of z, or any
/// number.
template <int K, int X, bool OneZ, class T>
struct ListedPoint {
  const KsgPlan<T>& p;
  std::int64_t i, begin, end, lane;  // of the lanes at work

  __device__ int dx() const { return X == 1 ? 1 : p.dx; }

  /// Distance to the k-th neighbour; infinite where the list is too short to tell.
  __device__ T kth_distance() const {
    const T* distance = p.list_distance + i * p.cap;
    const std::uint32_t* point = p.list_point + i * p.cap;
    const int length = int(p.list_length[i]);
    T best[K];  // the first K - k places are taken, so that the k-th smallest always stands last
#pragma unroll
    for (int s = 0; s < K; ++s) best[s] = s < K - p.k ? -T(INFINITY) : T(INFINITY);
    for (int o = 0; o < length; ++o) {
      const T yz = distance[o];
      if (!__any_sync(~0u, yz < best[K - 1])) break;
      T v = larger(yz, distance_of(p.x + lane, dx(), p.column_step, i * p.row_step, point[o] * p.row_step));
      if (!(v < best[K - 1])) continue;
#pragma unroll
      for (int s = 0; s < K; ++s) {
        const T low = best[s] < v ? best[s] : v;
        v = best[s] < v ? v : best[s], best[s] = low;
      }
    }
    return best[K - 1] <= p.reach[i] ? best[K - 1] : T(INFINITY);
  }

  __device__ KsgCounts counts(T eps, std::int64_t alternative) const {
    unsigned from[X], width[X];  // of the places of x
#pragma unroll
    for (int c = 0; c < X; ++c) {
      if (c >= dx()) break;
      const T q = p.x[c * p.column_step + i * p.row_step + lane];
      const Places in = places_within(p.sorted_x(alternative, c), begin, end, q, eps);
      from[c] = unsigned(in.begin - begin), width[c] = unsigned(in.end - in.begin);
    }
    const Places in = places_within(p.key(), begin, end, p.key()[i], eps);
    const unsigned first = unsigned(in.begin), count = unsigned(in.end - in.begin);
    const T* z = p.yz + p.dy * p.n;
    const auto inside = [&](std::int64_t j) {
      bool in_x = true;
#pragma unroll
      for (int c = 0; c < X; ++c) {
        if (c >= dx()) break;
        in_x = in_x && p.lane_place[c * p.column_step + j * p.row_step + lane] - from[c] < width[c];
      }
      return in_x;
    };
    int n_z = OneZ ? int(count) : 0, n_xz = 0;
    const unsigned last = warp_max(first + count);
#pragma unroll 4
    for (unsigned j = warp_min(count ? first : ~0u); j < last; ++j) {
      const bool in_z = OneZ ? j - first < count : distance_of(z, p.dz, p.n, i, j) < eps;
      if (!OneZ) n_z += in_z;
      n_xz += in_z && inside(j);
    }
    const bool self = T(0) < eps;
    n_z -= self, n_xz -= self;
    const std::int64_t row = p.row(i);
    for (std::int64_t other = row - p.theiler < begin ? begin : row - p.theiler;
         p.theiler && other <= row + p.theiler && other < end; ++other) {
      const std::int64_t j = p.at[other];
      const bool out = other != row && p.excluded(row, other) && distance_of(z, p.dz, p.n, i, j) < eps;
      n_z -= out, n_xz -= out && inside(j);
    }
    return {n_z, n_xz, listed_within(eps)};
  }

  /// Listed points nearer than eps.
  __device__ int listed_within(T eps) const {
    int low = 0, high = int(p.list_length[i]);
    while (low < high) {
      const int middle = (low + high) / 2;
      if (p.list_distance[i * p.cap + middle] < eps)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

/// A warp takes `per_warp` points of the 32 estimates from 32 blockIdx.y.
template <int K, int X, bool OneZ, class T>
__global__ void __launch_bounds__(128, X == 1 ? 6 : 4) ksg_listed(KsgPlan<T> p, int per_warp) {
  const std::int64_t group = std::int64_t(blockIdx.y) * 32, me = group + threadIdx.x % 32;
  const bool active = me < p.lanes;
  const std::int64_t lane = active ? me : p.lanes - 1, first = thread_index() / 32 * per_warp;
  KsgTerms<T> terms(p, lane);
  for (std::int64_t i = first; i < first + per_warp && i < p.n; ++i) {
    const auto range = p.problem_of(i);
    const ListedPoint<K, X, OneZ, T> point{p, i, range.begin, range.end, lane};
    const T eps = point.kth_distance();
    const bool known = eps < T(INFINITY);
    const KsgCounts n = point.counts(known ? eps : T(0), (p.first_lane + lane) / p.e);
    if (!active) continue;
    if (known)
      terms.add(i, range.problem, n);
    else
      p.open[atomicAdd(p.open_count, 1ull)] = uint2{unsigned(i), unsigned(lane)};
  }
  if (active) terms.flush();
}

/// The points of lanes that ksg_listed left open.
template <int K, class T>
__global__ void __launch_bounds__(128, 4) ksg_open(KsgPlan<T> p) {
  const std::int64_t count = std::int64_t(*p.open_count);
  for (std::int64_t o = thread_index() / 32; o < count; o += thread_count() / 32) {
    const uint2 at = p.open[o];
    const auto range = p.problem_of(at.x);
    const KsgCounts n = ksg_counts<K, 0>(p, at.x, range.begin, range.end, at.y);
    if (threadIdx.x % 32) continue;
    KsgTerms<T> terms(p, at.y);
    terms.add(at.x, range.problem, n), terms.flush();
  }
}

}  // namespace
}  // namespace kolmo::cuda
