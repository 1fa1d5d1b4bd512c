#pragma once
// Computes one point of 32 estimates of the same y and z, one estimate per lane of a warp.
#include <bit>

#include "kolmo/base/pack.hpp"
#include "kolmo/device/halfwords.cuh"
#include "kolmo/device/warp_int.cuh"
#include "kolmo/knn/ksg_point.cuh"

namespace kolmo::cuda {
namespace {

/// A part of a list in shared memory. Each lane of a warp brings one entry; then all lanes read all entries.
template <class T>
struct ListPart {
  static constexpr int entries = 32, step = 4;  // lanes read `step` entries at once
  alignas(16) T distance[entries];
  alignas(16) std::uint32_t point[entries];
};

/// Point i for 32 estimates, one per lane, with up to X columns of x. OneZ: z has one column. Otherwise z has
/// several, or, if x has one column, possibly none.
template <int K, int X, bool OneZ, class T>
struct ListedPoint {
  static constexpr unsigned step_of_x = 32;  // rows of x are this far apart
  static constexpr int few = 4;  // the last estimates of a warp, up to so many, are finished together
  const KsgPlan<T>& p;
  unsigned x, places, sorted_x;  // where the lane's data begin in p.x, p.lane_place and the sorted columns
  int i, begin, end;
  ListPart<T>& part;  // shared by the warp

  __device__ int dx() const { return X == 1 ? 1 : p.dx; }
  __device__ bool one_z() const { return OneZ || p.dz == 1; }
  __device__ bool z_is_listed() const { return !OneZ && p.dz > 1; }
  __device__ T x_at(unsigned of_lane, int column, unsigned point) const {
    return p.x[of_lane + unsigned(column) * unsigned(p.column_step) + point * step_of_x];
  }
  __device__ T x_distance(unsigned of_lane, const T (&mine)[X], unsigned point) const {
    T far = distance_of(mine[0], x_at(of_lane, 0, point));
#pragma unroll
    for (int c = 1; c < X; ++c)
      if (c < dx()) far = larger(far, distance_of(mine[c], x_at(of_lane, c, point)));
    return far;
  }
  /// The values of x that the point itself has in one estimate.
  struct Own {
    T value[X];
  };
  __device__ Own own_x(unsigned of_lane) const {
    Own own;
#pragma unroll
    for (int c = 0; c < X; ++c) own.value[c] = x_at(of_lane, c < dx() ? c : 0, unsigned(i));
    return own;
  }

  /// Distance of the k-th neighbour among those that the list in (y, z) holds.
  __device__ T kth_distance() const {
    constexpr int step = ListPart<T>::step, W = pack_width<T> < step ? pack_width<T> : step;
    const Own own = own_x(x);
    T best[K];  // the first K - k entries are filled, so that the k-th smallest is always the last
#pragma unroll
    for (int s = 0; s < K; ++s) best[s] = s < K - p.k ? -T(INFINITY) : T(INFINITY);
    Entry next = entry(lane());
    unsigned going = ~0u;  // estimates that the next list entries may still change
    for (int o = 0; __popc(going) > few; o += ListPart<T>::entries) {
      keep(next);
      next = entry(o + ListPart<T>::entries + lane());
      for (int e = 0; e < ListPart<T>::entries; e += step) {
        Pack<T, W> near[step / W];
#pragma unroll
        for (int a = 0; a < step / W; ++a) near[a] = load_pack<W>(part.distance + e + a * W);
        const auto points = load_pack<step>(part.point + e);
        going = __ballot_sync(~0u, near[0].value[0] < best[K - 1]);
        if (__popc(going) <= few) {
          finish(going, o + e, own, best);
          break;
        }
        T far[step];
#pragma unroll
        for (int a = 0; a < step; ++a)
          far[a] = larger(near[a / W].value[a % W], x_distance(x, own.value, points.value[a]));
#pragma unroll
        for (int a = 0; a < step; ++a)
          if (far[a] < best[K - 1]) insert(best, far[a]);
      }
    }
    return best[K - 1];
  }
  /// Whether the lists hold all points that are nearer than r.
  __device__ bool lists_reach(T r) const {
    return r <= p.near_yz.reach[i] && (!z_is_listed() || r <= p.near_z.reach[i]);
  }

  __device__ KsgCounts counts(T eps) const {
    // Several searches by bisection run in one loop, so that their loads are in flight together: for the
    // places of x and of the key within eps, and for the numbers of listed points nearer than eps.
    int from[X] = {}, to[X] = {}, key_from = 0, key_to = 0, n_yz = 0, n_z = 0;
    const Own own = own_x(x);
    const T own_key = p.key()[i];
    int rest = end - begin, rest_yz = int(p.near_yz.length[i]),
        rest_z = z_is_listed() ? int(p.near_z.length[i]) : 0;
    while (rest > 0) {
      const int half = (rest + 1) / 2;
      // Narrows down the first place where the key, or a column of x, is within eps of `mine`, and the first
      // after it where it no longer is.
      const auto within = [&](int& first, int& last, unsigned column, T mine) {
        const unsigned middle = column + unsigned(begin + half - 1);
        const T a = p.key()[middle + unsigned(first)], b = p.key()[middle + unsigned(last)];
        if (!(mine - a < eps)) first += half;
        if (b - mine < eps) last += half;
      };
      const auto nearer = [&](int& count, int& left, const NeighbourList<T>& list) {
        const int half_list = (left + 1) / 2;
        if (left && list.distance[first_entry(list) + unsigned(count + half_list - 1)] < eps)
          count += half_list;
        left -= half_list;
      };
#pragma unroll
      for (int c = 0; c < X; ++c)
        if (c < dx()) within(from[c], to[c], sorted_x + unsigned(c) * unsigned(p.n), own.value[c]);
      if (one_z()) within(key_from, key_to, 0, own_key);
      nearer(n_yz, rest_yz, p.near_yz);
      if (z_is_listed()) nearer(n_z, rest_z, p.near_z);
      rest -= half;
    }
    const bool self = T(0) < eps;  // false if the point itself is not within eps; then all counts are 0
    Interval within_x[X];
#pragma unroll
    for (int c = 0; c < X; ++c) within_x[c] = Interval(from[c], to[c]);
    int n_xz = one_z()         ? in_windows({begin + key_from, begin + key_to}, within_x)
               : z_is_listed() ? listed_inside(n_z, within_x)
                               : to[0] - from[0];
    if (!self) return {0, 0, 0};
    if (z_is_listed()) return {n_z, n_xz, n_yz};
    n_z = key_to - key_from - 1, --n_xz;
    const std::int64_t row = p.row(i), first_out = row - p.theiler < begin ? begin : row - p.theiler;
    for (std::int64_t other = first_out; p.theiler && other <= row + p.theiler && other < end; ++other) {
      if (other == row || !p.excluded(row, other)) continue;
      const std::uint32_t j = p.at[other];
      const bool out = !one_z() || distance_of(p.key()[j], own_key) < eps;
      n_z -= out, n_xz -= out && inside(p.place_of(j), within_x);
    }
    return {one_z() ? n_z : 0, n_xz, n_yz};
  }

 private:
  /// Places or points from `from` to below `to`. For an empty interval only holds() is right.
  struct Interval {
    std::uint32_t start = 0, width = 0, minus_start = 0,
                  most = 0;  // the last two hold one number in each half
    Interval() = default;
    __device__ Interval(int from, int to)
        : start(unsigned(from)),
          width(from < to ? unsigned(to - from) : 0),
          minus_start(both_halves(0u - start)),
          most(both_halves(width - 1)) {}
    /// Gets the interval of another lane, for misses() alone.
    __device__ Interval of_lane(int who) const {
      Interval other;
      other.minus_start = __shfl_sync(~0u, minus_start, who), other.most = __shfl_sync(~0u, most, who);
      return other;
    }
    __device__ bool holds(unsigned v) const { return v - start < width; }
    /// Tests two numbers, the halves of v: the result's half is 0 if the number is in the interval.
    __device__ std::uint32_t misses(std::uint32_t v) const { return beyond(v, minus_start, most); }
  };

  __device__ static int smaller(int a, int b) { return a < b ? a : b; }
  __device__ static int lane() { return int(threadIdx.x % 32); }
  struct Entry {
    T distance;
    std::uint32_t point;
  };
  /// Reads an entry of the point's list in (y, z). Behind its end distances are infinite.
  __device__ Entry entry(int o) const {
    const unsigned at = first_entry(p.near_yz) + unsigned(o);
    if (o >= int(p.near_yz.length[i])) return {T(INFINITY), 0};
    return {p.near_yz.distance[at], p.near_yz.point[at]};
  }
  __device__ void keep(const Entry& mine) const {
    __syncwarp();
    part.distance[lane()] = mine.distance, part.point[lane()] = mine.point;
    __syncwarp();
  }
  __device__ unsigned first_entry(const NeighbourList<T>& list) const {
    return unsigned(i) * unsigned(list.cap);
  }
  __device__ static std::uint32_t pair_of_places(const std::uint16_t* at) {
    return std::bit_cast<std::uint32_t>(load_pack<2>(at));
  }
  __device__ static std::uint32_t pair_of_points(int pair) { return unsigned(pair) * 0x20002 + 0x10000; }

  /// Replaces the values of `count` lanes by `none`, by turns that of a lane which holds the value that
  /// `least` finds. Returns these lanes as bits.
  template <int count, class Least>
  __device__ static unsigned take_out(int& value, int none, Least least) {
    unsigned taken = 0;
    for (int t = 0; t < count; ++t) {
      const unsigned holders = __ballot_sync(~0u, value == least(value)), one = holders & (0u - holders);
      if (one >> threadIdx.x % 32 & 1) value = none;
      taken |= one;
    }
    return taken;
  }

  /// Tests the places of two neighbouring points, which stand at `at`: the result's half is 0 if the point's
  /// place is inside in every column of x.
  __device__ std::uint32_t misses_x(const std::uint16_t* at, const Interval (&within_x)[X]) const {
    std::uint32_t misses = within_x[0].misses(pair_of_places(at));
#pragma unroll
    for (int c = 1; c < X; ++c)
      if (c < dx()) misses |= within_x[c].misses(pair_of_places(at + c * p.place_step));
    return misses;
  }
  __device__ bool inside(unsigned place, const Interval (&within_x)[X]) const {
    std::uint16_t at[X];
#pragma unroll
    for (int c = 0; c < X; ++c)
      if (c < dx()) at[c] = p.lane_place[places + place + unsigned(c) * unsigned(p.place_step)];
    bool in = true;
#pragma unroll
    for (int c = 0; c < X; ++c) in &= c >= dx() || within_x[c].holds(at[c]);
    return in;
  }

  /// Counts the points in the lane's window whose places in x are inside.
  __device__ int in_windows(Places window, const Interval (&within_x)[X]) const {
    const bool any = window.begin < window.end;
    int first = any ? window.begin : end, last = window.end;
    // The widest windows are counted separately on each side, so that the other lanes do not wait for them.
    const unsigned early = take_out<few>(first, end, [](int v) { return warp_min(v); });
    const unsigned late = take_out<few>(last, begin, [](int v) { return warp_max(v); });
    // Points are counted by eights, from eight number `first` to number last - 1.
    first = smaller(warp_min(first), i) / 8, last = (larger(warp_max(last), i + 1) + 7) / 8;
    int n = counted_apart(early, any ? smaller(window.begin, 8 * first) : 8 * first, 8 * first, within_x) +
            counted_apart(late, 8 * last, any ? larger(window.end, 8 * last) : 8 * last, within_x);
    // The eights from `inner` to outer - 1 are inside every lane's window.
    const int inner = smaller((warp_max(window.begin) + 7) / 8, last);
    const int outer = larger(smaller(warp_min(window.end) / 8, last), inner);
    const Interval in_window(window.begin, window.end);
    std::uint32_t outside = 0;
    const auto count = [&](int eight, int stop, auto also_misses) {
      const std::uint16_t* at = p.lane_place + (places + unsigned(eight) * 256);
#pragma unroll 2
      for (; eight < stop; ++eight, at += 256)
#pragma unroll
        for (int pair = 0; pair < 4; ++pair)
          outside += ones(misses_x(at + pair * 64, within_x) | also_misses(4 * eight + pair));
    };
    const auto misses_window = [&](int pair) { return in_window.misses(pair_of_points(pair)); };
    count(first, inner, misses_window);
    count(inner, outer, [](int) { return 0u; });
    count(outer, last, misses_window);
    return n + 8 * (last - first) - sum_of_halves(outside);
  }

  /// Counts, among the first n_z entries of the point's list in z, those whose places in x are inside.
  __device__ int listed_inside(int n_z, const Interval (&within_x)[X]) const {
    constexpr int step = ListPart<T>::step;
    const int longest = warp_max(n_z), length = int(p.near_z.length[i]);
    const auto place = [&](int o) {
      return o < length ? p.near_z.point[first_entry(p.near_z) + unsigned(o)] : 0;
    };
    std::uint32_t next = place(lane());
    int n = 0;
    for (int o = 0; o < longest; o += ListPart<T>::entries) {
      __syncwarp();
      part.point[lane()] = next;
      __syncwarp();
      next = place(o + ListPart<T>::entries + lane());
#pragma unroll 2
      for (int e = 0; e < ListPart<T>::entries && o + e < longest; e += step) {
        const auto places_of = load_pack<step>(part.point + e);
#pragma unroll
        for (int a = 0; a < step; ++a) n += int(inside(places_of.value[a], within_x)) & int(o + e + a < n_z);
      }
    }
    return n;
  }

  /// Counts for each lane in `lanes`, one after the other and by the whole warp, which of its points first
  /// ... last - 1 have places inside its intervals.
  __device__ int counted_apart(unsigned lanes, int first, int last, const Interval (&within_x)[X]) const {
    int mine = 0;
    for (; lanes; lanes &= lanes - 1) {
      const int who = __ffs(int(lanes)) - 1;
      const unsigned other = __shfl_sync(~0u, places, who);
      const int from = __shfl_sync(~0u, first, who), to = __shfl_sync(~0u, last, who);
      Interval of_other[X];
#pragma unroll
      for (int c = 0; c < X; ++c) of_other[c] = within_x[c].of_lane(who);
      const Interval points(from, to);
      int count = 0;
      for (int pair = from / 2 + lane(); 2 * pair < to; pair += 32)
        count += 2 - sum_of_halves(ones(misses_x(p.lane_place + (other + unsigned(pair) * 64), of_other) |
                                        points.misses(pair_of_points(pair))));
      count = warp_sum(count);
      if (lane() == who) mine = count;
    }
    return mine;
  }

  /// Inserts a value that is below the last of `best`, which drops out.
  __device__ static void insert(T (&best)[K], T v) {
#pragma unroll
    for (int s = K - 1; s > 0; --s) {
      const T after = v < best[s - 1] ? best[s - 1] : v;
      best[s] = s == K - 1 || v < best[s] ? after : best[s];
    }
    if (K == 1 || v < best[0]) best[0] = v;
  }

  /// Walks the list from entry o on for the last estimates of the warp, at most `few`: each lane measures one
  /// entry for all of them.
  __device__ void finish(unsigned going, int o, const Own& own, T (&best)[K]) const {
    for (Entry mine = entry(o + lane()), next; going; mine = next) {
      o += 32, next = entry(o + lane());
      T far[few];
      unsigned left = going;
#pragma unroll
      for (int t = 0; t < few; ++t) {
        const int who = left ? __ffs(int(left)) - 1 : 0;
        Own of_other;
#pragma unroll
        for (int c = 0; c < X; ++c) of_other.value[c] = __shfl_sync(~0u, own.value[c], who);
        far[t] = larger(mine.distance, x_distance(__shfl_sync(~0u, x, who), of_other.value, mine.point));
        left &= left - 1;
      }
      left = going;
#pragma unroll
      for (int t = 0; t < few; ++t) {
        if (!left) break;
        const int who = __ffs(int(left)) - 1;
        left &= left - 1;
        for (unsigned nearer = __ballot_sync(~0u, far[t] < __shfl_sync(~0u, best[K - 1], who)); nearer;
             nearer &= nearer - 1) {
          const T v = __shfl_sync(~0u, far[t], __ffs(int(nearer)) - 1);
          if (lane() == who && v < best[K - 1]) insert(best, v);
        }
      }
      going &= __ballot_sync(~0u, __shfl_sync(~0u, next.distance, 0) < best[K - 1]);
    }
  }
};

}  // namespace
}  // namespace kolmo::cuda
