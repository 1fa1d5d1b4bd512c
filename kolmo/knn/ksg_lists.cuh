#pragma once
// Many estimates of the same y and z: each point's neighbours in (y, z) are listed once, and the lanes of a
// warp compute 32 estimates of one point. For ksg1 with a condition, or with one column of x. Anonymous
// namespace: see device/grid.cuh.
#include "kolmo/knn/ksg_point.cuh"

namespace kolmo::cuda {
namespace {

constexpr int list_block = 256, list_most = 1024;

/// Calls f(point, distance) for each neighbour of point i nearer than r in (y, z), distributed over the
/// threads of the block.
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

/// A radius with at most p.cap nearer neighbours and, if possible, at least half as many.
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

/// A block builds the list of one point.
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

/// Point i for 32 estimates, one per lane, with up to X columns of x. OneZ: z has one column; else it may have none, if x
/// has one.
template <int K, int X, bool OneZ, class T>
struct ListedPoint {
  static constexpr int step_of_x = 32;  // rows of x are this far apart
  static constexpr int few = 4;         // the last estimates of a warp are finished one by one
  const KsgPlan<T>& p;
  const T* x;  // of the lane
  const std::uint16_t* place;
  int i, begin, end;

  __device__ int dx() const { return X == 1 ? 1 : p.dx; }
  __device__ T x_distance(int j) const {
    return distance_of(x, dx(), p.column_step, i * step_of_x, j * step_of_x);
  }

  /// Distance to the k-th neighbour; infinite if the list is too short.
  __device__ T kth_distance() const {
    constexpr int at_once = 4;
    const T* distance = p.list_distance + i * p.cap;
    const std::uint32_t* point = p.list_point + i * p.cap;
    const int length = int(p.list_length[i]);
    T best[K];  // the first K - k entries are filled, so that the k-th smallest is always the last
#pragma unroll
    for (int s = 0; s < K; ++s) best[s] = s < K - p.k ? -T(INFINITY) : T(INFINITY);
    int o = 0;
    unsigned going = ~0u;  // estimates that the next list entries may still change
    for (; o < length; o += at_once) {
      going = __ballot_sync(~0u, distance[o] < best[K - 1]);
      if (__popc(going) <= few) break;
      T far[at_once];
#pragma unroll
      for (int a = 0; a < at_once; ++a) {
        const int at = o + a < length ? o + a : o;
        far[a] = larger(distance[at], x_distance(int(point[at])));
        if (o + a >= length) far[a] = T(INFINITY);
      }
#pragma unroll
      for (int a = 0; a < at_once; ++a)
        if (far[a] < best[K - 1]) insert(best, far[a]);
    }
    if (o < length)
      for (; going; going &= going - 1) finish(__ffs(int(going)) - 1, o, length, best);
    return best[K - 1] <= p.reach[i] ? best[K - 1] : T(INFINITY);
  }

  __device__ KsgCounts counts(T eps, std::int64_t alternative) const {
    // Halved together, so that their loads are under way together: the places of x and of the key within eps, and the
    // number of listed points nearer than that.
    unsigned from[X] = {}, to[X] = {};
    int key_from = 0, key_to = 0, listed = 0;
    const int rows = end - begin;
    const T* const key = p.key() + begin;
    for (int step = int(std::bit_floor(unsigned(rows))); step; step /= 2) {
      const auto lead = [&](auto& count, int most, const T* values, auto holds) {
        const int more = int(count) + step;
        const T value = values[more <= most ? more - 1 : 0];
        if (more <= most && holds(value)) count += unsigned(step);
      };
      const auto within = [&](auto& first, auto& last, const T* values, T mine) {
        lead(first, rows, values, [&](T v) { return v < mine && !(mine - v < eps); });
        lead(last, rows, values, [&](T v) { return v < mine || v - mine < eps; });
      };
#pragma unroll
      for (int c = 0; c < X; ++c) {
        if (c >= dx()) break;
        within(from[c], to[c], p.sorted_x(alternative, c) + begin, x[c * p.column_step + i * step_of_x]);
      }
      if (OneZ || p.dz) within(key_from, key_to, key, p.key()[i]);
      lead(listed, int(p.list_length[i]), p.list_distance + i * p.cap, [&](T d) { return d < eps; });
    }
    unsigned width[X];  // of the intervals of places of x
#pragma unroll
    for (int c = 0; c < X; ++c) width[c] = to[c] - from[c];
    const auto inside = [&](int j) {
      bool in = true;
#pragma unroll
      for (int c = 0; c < X; ++c) {
        if (c >= dx()) break;
        in = in && place[c * p.column_step + j * step_of_x] - from[c] < width[c];
      }
      return in;
    };
    const bool self = T(0) < eps;
    const std::int64_t row = p.row(i), first_out = row - p.theiler < begin ? begin : row - p.theiler;
    // Calls f(j) for the other points in the Theiler window.
    const auto excluded = [&](auto f) {
      for (std::int64_t other = first_out; p.theiler && other <= row + p.theiler && other < end; ++other)
        if (other != row && p.excluded(row, other)) f(int(p.at[other]));
    };
    if constexpr (!OneZ)
      if (p.dz == 0) {
        int n_x = int(width[0]) - self;
        excluded([&](int j) { n_x -= inside(j); });
        return {0, n_x, listed};
      }
    const T* z = p.yz + p.dy * p.n;
    const auto z_distance = [&](int j) { return distance_of(z, p.dz, p.n, i, j); };

    const Places window{begin + key_from, begin + key_to};
    int n_z = 0, n_xz = 0;
    int first = window.begin < window.end ? window.begin : end, last = window.end;
    if constexpr (OneZ) {
      n_z = window.end - window.begin;
      // The widest windows are counted separately on each side, so that the other lanes do not wait for them.
      const unsigned early = take_out<few>(first, end, [](int a, int b) { return a < b; });
      const unsigned late = take_out<few>(last, begin, [](int a, int b) { return b < a; });
      first = smaller(warp_min(first), i), last = larger(warp_max(last), i + 1);
      const bool any = window.begin < window.end;
      n_xz += counted_apart(early, any ? smaller(window.begin, first) : first, first, from[0], width[0]);
      n_xz += counted_apart(late, last, any ? larger(window.end, last) : last, from[0], width[0]);
      // Between `inner` and `outer` all positions are inside every lane's interval in z.
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
      // Distances in z are the same for every lane, so each lane computes one of 32.
      first = warp_min(first), last = warp_max(last);
      const T widest = warp_max(eps);
      for (int group = first; group < last; group += 32) {
        const int mine = group + int(threadIdx.x % 32);
        const T far = mine < last ? z_distance(mine) : T(INFINITY);
        for (unsigned near = __ballot_sync(~0u, far < widest); near; near &= near - 1) {
          const int who = __ffs(int(near)) - 1;
          const bool in_z = __shfl_sync(~0u, far, who) < eps;
          n_z += in_z, n_xz += in_z && inside(group + who);
        }
      }
    }
    n_z -= self, n_xz -= self;
    excluded([&](int j) {
      const bool out = z_distance(j) < eps;
      n_z -= out, n_xz -= out && inside(j);
    });
    return {n_z, n_xz, listed};
  }

  __device__ static int smaller(int a, int b) { return a < b ? a : b; }
  /// Replaces the values of the `count` lanes that come first in the order of `before` by `none`; returns
  /// these lanes as bits.
  template <int count, class Before>
  __device__ static unsigned take_out(int& value, int none, Before before) {
    unsigned taken = 0;
    for (int t = 0; t < count; ++t) {
      const int least = warp_reduce(value, [&](int a, int b) { return before(b, a) ? b : a; });
      const unsigned holders = __ballot_sync(~0u, value == least), one = holders & (0u - holders);
      if (one >> threadIdx.x % 32 & 1) value = none;
      taken |= one;
    }
    return taken;
  }

  /// For each lane of `lanes`, counts those of its places first ... last - 1 that lie in its interval of x.
  __device__ int counted_apart(unsigned lanes, int first, int last, unsigned from, unsigned width) const {
    const int lane = int(threadIdx.x % 32), offset = int(place - p.lane_place);
    int mine = 0;
    for (; lanes; lanes &= lanes - 1) {
      const int who = __ffs(int(lanes)) - 1;
      const std::uint16_t* const places = p.lane_place + __shfl_sync(~0u, offset, who);
      const int stop = __shfl_sync(~0u, last, who);
      const unsigned low = __shfl_sync(~0u, from, who), span = __shfl_sync(~0u, width, who);
      int count = 0;
      for (int j = __shfl_sync(~0u, first, who); j < stop; j += 32)
        count += __popc(__ballot_sync(~0u, j + lane < stop && places[(j + lane) * step_of_x] - low < span));
      if (lane == who) mine = count;
    }
    return mine;
  }

  __device__ static void insert(T (&best)[K], T v) {
#pragma unroll
    for (int s = 0; s < K; ++s) {
      const T low = best[s] < v ? best[s] : v;
      v = best[s] < v ? v : best[s], best[s] = low;
    }
  }

  /// Walks the list from entry o on for the estimate of one lane, 32 entries at once.
  __device__ void finish(int who, int o, int length, T (&best)[K]) const {
    const T* distance = p.list_distance + i * p.cap;
    const std::uint32_t* point = p.list_point + i * p.cap;
    const int lane = int(threadIdx.x % 32);
    const T* const other = p.x + __shfl_sync(~0u, int(x - p.x), who);
    T limit = __shfl_sync(~0u, best[K - 1], who);
    for (; o < length && distance[o] < limit; o += 32) {
      T far = T(INFINITY);
      if (o + lane < length)
        far = larger(distance[o + lane], distance_of(other, dx(), p.column_step, i * step_of_x,
                                                     int(point[o + lane]) * step_of_x));
      for (unsigned nearer = __ballot_sync(~0u, far < limit); nearer; nearer &= nearer - 1) {
        const T v = __shfl_sync(~0u, far, __ffs(int(nearer)) - 1);
        if (lane == who) insert(best, v);
      }
      limit = __shfl_sync(~0u, best[K - 1], who);
    }
  }
};

/// A warp computes `per_warp` points of the 32 estimates from 32 blockIdx.y on.
template <int K, int X, bool OneZ, class T>
__global__ void __launch_bounds__(ksg_block, X > 1  ? 8
                                             : OneZ ? 14
                                                    : 16) ksg_listed(KsgPlan<T> p, int per_warp) {
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

/// Computes the points of lanes that ksg_listed left open.
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
