#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kolmo/base/arena.hpp"
#include "kolmo/knn/ksg_problem.hpp"
#include "kolmo/knn/list_length.hpp"
#include "kolmo/knn/sorted.hpp"

namespace kolmo::knn {

// A group consists of 32 estimates side by side. Its samples of x are kept in four packs of eight lanes.
inline constexpr int group_lanes = 32, pack = 8, packs = group_lanes / pack;
inline constexpr int tile = 128;  // points per pass over a group
inline constexpr int guesses = 64;

/// Which estimate a lane computes.
struct Lane {
  std::int64_t alternative, number;
};

/// The range of values of x whose steps are reliable. Values outside it, if any, are stored as its end
/// points.
template <class T>
struct StepRange {
  T low;
  std::int16_t least, most;
};

/// Data that all estimates of a problem share. Points are numbered in the order of the key: the first column
/// of z, or of y if there is no z.
template <class T>
struct Shared {
  std::int64_t n, padded;      // padded: room for a vector after the n values
  std::int64_t lanes, groups;  // estimates
  std::int64_t length, slice;  // entries of a neighbour list; points whose lists fit in memory at a time
  bool ranked;                 // whether samples of x are kept as ranks, and counted by them
  std::int64_t z_length;       // entries of a list in z; 0: there are none
  Sorted<T> key;
  T* yz;                  // columns of y, then z, each in key order and padded with infinity
  T* x_sorted;            // of each alternative, padded with infinity (one column of x only)
  std::uint32_t* x_rank;  // rank of each alternative's row in x_sorted
  Cells<T>* x_cells;      // of each alternative
  Cells<T> key_cells;
  Sorted<T> y;  // the first column of y by point; only with z
  Cells<T> y_cells;
  std::uint32_t* scratch_row;  // for sorting alternatives
  SortKey* scratch;
  T* distance;               // neighbour lists in (y, z): distances ascending
  std::uint32_t* neighbour;  // and their points
  std::int32_t* listed;      // entries of each point's list
  // Lists in z, from the point itself on. Points that are not listed are at least as far as the last distance.
  T* z_distance;
  std::uint32_t* z_neighbour;
  std::int32_t* z_listed;  // entries of each point's list, the last distance included
  std::uint32_t* z_far;    // distances of the lists in steps; of 16 bits if ranks are
  T step;                  // distances are walked in steps of this width; 0: without steps
  std::int16_t* far;       // distances of the lists in steps
  std::int16_t* x_steps;   // of each alternative, ascending
  StepRange<T>* x_range;   // of each alternative
  PsiTerm* terms;
  PsiSum* sums;        // by lane
  std::byte* benches;  // one per thread
  std::size_t bench_bytes;

  /// A distance in steps. It ascends with the distance.
  std::int32_t in_steps(T distance) const {
    return std::int32_t(std::min(step > 0 ? distance / step : T(0), T(32767)));
  }
  std::int64_t alternative(const KsgProblem<T>& p, std::int64_t group, int lane) const {
    return std::min(group * group_lanes + lane, lanes - 1) / p.estimates();
  }
  const T* z(int c, int dy) const { return yz + (dy + c) * padded; }
};

/// The scratch memory of one thread for one group.
template <class T>
struct Bench {
  T* x;  // [pack][column][point][lane]
  // Two arrays per lane, of 16 bits an element if they fit: the rank of each point's x, and the point of each
  // rank.
  std::uint32_t *rank, *place;
  std::uint32_t* rank_rows;              // with lists in z: [point][lane], also of 16 bits if they fit
  std::uint32_t* index;                  // [lane of a pack][row]: the surrogate's map
  std::uint32_t* once;                   // the table of write_map()
  std::int16_t* steps;                   // [point][lane]: x in steps
  std::int16_t* entry;                   // [list entry][lane]: distances in steps
  std::int16_t *least_step, *most_step;  // [lane]
  bool* in_steps;                        // whether walking in steps pays off
  T* radius;                             // [point of the tile][lane]
  std::uint32_t *first, *size;           // [point of the tile][lane]: ranks within the radius in x
  std::uint32_t *z_first, *z_size, *n_z, *n_xz, *n_yz;
  T* candidate_distance;  // of a neighbour list, or in the neighbourhood of z
  std::uint32_t* candidate;
  std::uint64_t* order;  // of the candidates
  T* guess;              // by segments of y: reach of the latest list of a point in it; 0: unknown
  T* last_reach;         // reach of the latest list of any point

  void layout(const KsgProblem<T>& p, const Shared<T>& s, Arena& arena) {
    const auto n = std::size_t(s.padded);
    x = arena.take<T>(n * std::size_t(p.dx) * group_lanes);
    rank = arena.take<std::uint32_t>(s.ranked ? n * group_lanes : 0);
    place = arena.take<std::uint32_t>(s.ranked ? n * group_lanes : 0);
    rank_rows = arena.take<std::uint32_t>(s.z_length ? n * group_lanes : 0);
    index = arena.take<std::uint32_t>(n * pack);
    once = arena.take<std::uint32_t>(std::bit_ceil(std::max<std::size_t>(256, std::size_t(p.n))));
    steps = arena.take<std::int16_t>(s.ranked ? n * group_lanes : 0);
    entry = arena.take<std::int16_t>(std::size_t(s.length) * group_lanes);
    least_step = arena.take<std::int16_t>(group_lanes), most_step = arena.take<std::int16_t>(group_lanes);
    in_steps = arena.take<bool>(1);
    radius = arena.take<T>(tile * group_lanes);
    for (auto* counts : {&first, &size, &z_first, &z_size, &n_z, &n_xz, &n_yz})
      *counts = arena.take<std::uint32_t>(tile * group_lanes);
    candidate_distance = arena.take<T>(n + 1);
    candidate = arena.take<std::uint32_t>(n + 1);
    order = arena.take<std::uint64_t>(n + 1);
    guess = arena.take<T>(guesses), last_reach = arena.take<T>(1);
  }
  template <class R>
  R* ranks(int lane, const Shared<T>& s) const {
    return reinterpret_cast<R*>(rank) + lane * s.padded;
  }
  template <class R>
  R* rank_row(std::int64_t point) const {
    return reinterpret_cast<R*>(rank_rows) + point * group_lanes;
  }
  template <class R>
  R* places(int lane, const Shared<T>& s) const {
    return reinterpret_cast<R*>(place) + lane * s.padded;
  }
  T* column(int of_pack, int c, const KsgProblem<T>& p, const Shared<T>& s) const {
    return x + (of_pack * p.dx + c) * s.padded * pack;
  }
};

/// Number of entries of a list. Without z and in one dimension, a square of side sqrt(k / n) holds k of n
/// uniform points, so sqrt(k n) entries reach that far on average, and three times as many nearly always. In
/// the other cases it is half of list_length() if a search in x can replace a list that is too short.
template <class T>
std::int64_t lane_list_length(const KsgProblem<T>& p, bool ranked) {
  if (!p.dz && p.dx == 1) return std::min(p.n - 1, std::int64_t(3 * std::sqrt(double(p.k) * double(p.n))));
  const std::int64_t length = list_length(p.n, p.k);
  return ranked && !p.theiler ? std::max(length / 2, std::min(p.k, length)) : length;
}

/// Number of entries of a list in z. A cube that holds k of n uniform points in the joint space, of dz + 2 dimensions, holds
/// n (k / n)^(dz / (dz + 2)) of them in z; three times as many are nearly always enough.
template <class T>
std::int64_t z_list_length(const KsgProblem<T>& p) {
  const double share = double(p.k) / double(p.n), mean = double(p.n) * std::pow(share, p.dz / (p.dz + 2.));
  return std::min(p.n, std::int64_t(5 * mean) + 64);
}

template <class T>
Cells<T> cells_of(const T* value, std::int64_t n, Arena& arena) {
  return {value, arena.take<std::uint32_t>(std::size_t(Cells<T>::count(n))), 0, 0, 0};
}

/// Whether counts in (y, z) are computed from intervals of ranks, as those in (x, z).
template <class T>
bool in_plane(const KsgProblem<T>& p) {
  return p.dx == 1 && p.dy == 1 && p.dz == 1;
}

template <class T>
void shared_layout(const KsgProblem<T>& p, Shared<T>& s, Arena& arena, int threads) {
  constexpr double list_memory = 256e6;  // bytes
  s.n = p.n, s.padded = (p.n + pack + pack) / pack * pack;
  s.lanes = p.b * p.estimates(), s.groups = (s.lanes + group_lanes - 1) / group_lanes;
  constexpr std::int64_t fewest_groups = 4;  // that make up for sorting lists in z
  const bool lists_in_z = p.dx == 1 && p.dz > 1 && s.groups >= fewest_groups;
  s.ranked = p.dx == 1 && (p.dz <= 1 || lists_in_z);
  s.length = lane_list_length(p, s.ranked);
  s.z_length = lists_in_z ? z_list_length(p) + 1 : 0;
  const auto point_bytes = std::int64_t(s.length * (sizeof(T) + 6) + s.z_length * (sizeof(T) + 8));
  s.slice = std::clamp(std::int64_t(list_memory / double(point_bytes)) / tile * tile, std::int64_t(tile),
                       (p.n + tile - 1) / tile * tile);
  const auto n = std::size_t(s.padded);
  s.key = {arena.take<T>(n), arena.take<std::uint32_t>(n), arena.take<std::uint32_t>(n), p.n};
  s.yz = arena.take<T>(n * std::size_t(p.dy + p.dz));
  const bool ranked = s.ranked;
  s.x_sorted = arena.take<T>(ranked ? n * std::size_t(p.b) : 0);
  s.x_rank = arena.take<std::uint32_t>(ranked ? n * std::size_t(p.b) : 0);
  s.x_cells = arena.take<Cells<T>>(ranked ? std::size_t(p.b) : 0);
  for (std::int64_t b = 0; b < (ranked ? p.b : 0); ++b) {
    const Cells<T> cells = cells_of(s.x_sorted + b * s.padded, p.n, arena);
    if (s.x_cells) s.x_cells[b] = cells;
  }
  s.key_cells = cells_of(s.yz + (p.dz ? p.dy : 0) * s.padded, p.n, arena);
  if (p.dz) {
    s.y = {arena.take<T>(n), arena.take<std::uint32_t>(n), arena.take<std::uint32_t>(n), p.n};
    s.y_cells = cells_of(s.y.value, p.n, arena);
  }
  s.scratch_row = arena.take<std::uint32_t>(n);
  s.scratch = arena.take<SortKey>(n);
  s.distance = arena.take<T>(std::size_t(s.slice * s.length) + 8);  // measure_near() may read past the end
  s.neighbour = arena.take<std::uint32_t>(std::size_t(s.slice * s.length));
  s.listed = arena.take<std::int32_t>(std::size_t(s.slice));
  s.z_distance = arena.take<T>(std::size_t(s.slice * s.z_length));
  s.z_neighbour = arena.take<std::uint32_t>(std::size_t(s.slice * s.z_length));
  s.z_listed = arena.take<std::int32_t>(std::size_t(s.z_length ? s.slice : 0));
  s.z_far = arena.take<std::uint32_t>(std::size_t(s.slice * s.z_length));
  s.far = arena.take<std::int16_t>(ranked ? std::size_t(s.slice * s.length) : 0);
  s.x_steps = arena.take<std::int16_t>(ranked ? n * std::size_t(p.b) : 0);
  s.x_range = arena.take<StepRange<T>>(ranked ? std::size_t(p.b) : 0);
  s.terms = arena.take<PsiTerm>(n + 1);
  s.sums = arena.take<PsiSum>(std::size_t(s.groups * group_lanes));
  Arena one;
  Bench<T>().layout(p, s, one);
  s.bench_bytes = one.used();
  s.benches = arena.take<std::byte>(s.bench_bytes * std::size_t(threads));
}

}  // namespace kolmo::knn
