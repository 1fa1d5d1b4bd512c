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
  const KsgPoint<0, 1, T> me(p, nullptr, i, range.begin, range.end);
  const Places window = places_within(p.key(), range.begin, range.end, p.key()[i], r);
  for (int j = window.begin + int(threadIdx.x); j < window.end; j += list_block) {
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
    list_candidates(p, i, range, r, [&](int, T) { ++mine; });
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
    list_candidates(p, i, range, reach, [&](int j, T d) {
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

/// Point i for 32 estimates, one per lane, with up to X columns of x. OneZ: z has one column.
template <int K, int X, bool OneZ, class T>
struct ListedPoint {
  static constexpr int step = 32;  // rows of x are this far apart
  const KsgPlan<T>& p;
  const T* x;  // of the lane
  const std::uint16_t* place;
  int i, begin, end;

  __device__ int dx() const { return X == 1 ? 1 : p.dx; }
  __device__ T x_distance(int j) const { return distance_of(x, dx(), p.column_step, i * step, j * step); }

  /// Distance to the k-th neighbour; infinite where the list is too short to tell.
  __device__ T kth_distance() const {
    constexpr int at_once = 4;
    const T* distance = p.list_distance + i * p.cap;
    const std::uint32_t* point = p.list_point + i * p.cap;
    const int length = int(p.list_length[i]);
    T best[K];  // the first K - k places are taken, so that the k-th smallest always stands last
#pragma unroll
    for (int s = 0; s < K; ++s) best[s] = s < K - p.k ? -T(INFINITY) : T(INFINITY);
    for (int o = 0; o < length && __any_sync(~0u, distance[o] < best[K - 1]); o += at_once) {
      T far[at_once];
#pragma unroll
      for (int a = 0; a < at_once; ++a) {
        const int at = o + a < length ? o + a : o;
        far[a] = larger(distance[at], x_distance(int(point[at])));
        if (o + a >= length) far[a] = T(INFINITY);
      }
#pragma unroll
      for (int a = 0; a < at_once; ++a) {
        T v = far[a];
        if (!(v < best[K - 1])) continue;
#pragma unroll
        for (int s = 0; s < K; ++s) {
          const T low = best[s] < v ? best[s] : v;
          v = best[s] < v ? v : best[s], best[s] = low;
        }
      }
    }
    return best[K - 1] <= p.reach[i] ? best[K - 1] : T(INFINITY);
  }

  __device__ KsgCounts counts(T eps, std::int64_t alternative) const {
    unsigned from[X], width[X];  // of the places of x
#pragma unroll
    for (int c = 0; c < X; ++c) {
      if (c >= dx()) break;
      const Places in =
          places_within(p.sorted_x(alternative, c), begin, end, x[c * p.column_step + i * step], eps);
      from[c] = unsigned(in.begin - begin), width[c] = unsigned(in.end - in.begin);
    }
    const auto inside = [&](int j) {
      bool in = true;
#pragma unroll
      for (int c = 0; c < X; ++c) {
        if (c >= dx()) break;
        in = in && place[c * p.column_step + j * step] - from[c] < width[c];
      }
      return in;
    };
    const T* z = p.yz + p.dy * p.n;
    const auto inside_z = [&](int j) { return distance_of(z, p.dz, p.n, i, j) < eps; };

    const Places window = places_within(p.key(), begin, end, p.key()[i], eps);
    int n_z = 0, n_xz = 0;
    const int first = warp_min(window.begin < window.end ? window.begin : end), last = warp_max(window.end);
    if constexpr (OneZ) {
      n_z = window.end - window.begin;
      // Between `inner` and `outer` every lane's interval in z holds.
      int inner = warp_max(window.begin), outer = warp_min(window.end);
      if (inner >= outer) inner = outer = last;
      const auto test_z = [&](int j) { n_xz += unsigned(j - window.begin) < unsigned(n_z) && inside(j); };
#pragma unroll 4
      for (int j = first; j < inner; ++j) test_z(j);
#pragma unroll 8
      for (int j = inner; j < outer; ++j) n_xz += inside(j);
#pragma unroll 4
      for (int j = outer; j < last; ++j) test_z(j);
    } else {
      for (int j = first; j < last; ++j) {
        const bool in_z = inside_z(j);
        n_z += in_z, n_xz += in_z && inside(j);
      }
    }
    const bool self = T(0) < eps;
    n_z -= self, n_xz -= self;
    const std::int64_t row = p.row(i);
    for (std::int64_t other = row - p.theiler < begin ? begin : row - p.theiler;
         p.theiler && other <= row + p.theiler && other < end; ++other) {
      const int j = int(p.at[other]);
      const bool out = other != row && p.excluded(row, other) && inside_z(j);
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
__global__ void __launch_bounds__(ksg_block, X == 1 ? 12 : 8) ksg_listed(KsgPlan<T> p, int per_warp) {
  const std::int64_t group = std::int64_t(blockIdx.y) * 32, me = group + threadIdx.x % 32;
  const bool active = me < p.lanes;
  const std::int64_t lane = active ? me : p.lanes - 1, first = thread_index() / 32 * per_warp;
  const std::int64_t offset = p.lane_offset(lane);
  KsgTerms<T> terms(p, lane);
  for (std::int64_t i = first; i < first + per_warp && i < p.n; ++i) {
    const auto range = p.problem_of(i);
    const ListedPoint<K, X, OneZ, T> point{p,      p.x + offset,     p.lane_place + offset,
                                           int(i), int(range.begin), int(range.end)};
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
__global__ void __launch_bounds__(ksg_block, 8) ksg_open(KsgPlan<T> p) {
  const std::int64_t count = std::int64_t(*p.open_count);
  for (std::int64_t o = thread_index() / 32; o < count; o += thread_count() / 32) {
    const uint2 at = p.open[o];
    const auto range = p.problem_of(at.x);
    const KsgCounts n = ksg_counts<K, 0, 32>(p, at.x, range.begin, range.end, at.y);
    if (threadIdx.x % 32) continue;
    KsgTerms<T> terms(p, at.y);
    terms.add(at.x, range.problem, n), terms.flush();
  }
}

}  // namespace
}  // namespace kolmo::cuda
