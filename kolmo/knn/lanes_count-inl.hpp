// foreach_target.h includes this file once per instruction set, so it has no ordinary include guard.
#if defined(KOLMO_KNN_LANES_COUNT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KOLMO_KNN_LANES_COUNT_INL
#undef KOLMO_KNN_LANES_COUNT_INL
#else
#define KOLMO_KNN_LANES_COUNT_INL
#endif

#include <hwy/highway.h>

#include "kolmo/knn/interval-inl.hpp"
#include "kolmo/knn/lanes.hpp"
#include "kolmo/knn/lanes_rank-inl.hpp"
#include "kolmo/knn/lanes_walk-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kolmo::knn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// For each lane of a part of a pack: an array of values, and its cells.
template <class T>
struct LaneColumns {
  const T* value[pack];
  const std::uint32_t* start[pack];
  HWY_ALIGN T low[pack], scale[pack], last[pack];

  void set(int lane, const Cells<T>& c) {
    value[lane] = c.value, start[lane] = c.start;
    low[lane] = c.low, scale[lane] = c.scale, last[lane] = T(c.last);
  }
};

/// Computes the index of the cell before each value's own cell, which Cells::cell would give.
template <class T, class D>
HWY_INLINE void cells_before(D d, const LaneColumns<T>& c, hn::Vec<D> v, std::int32_t* to) {
  const hn::Rebind<std::int32_t, D> narrow;
  const auto scaled = hn::Mul(hn::Sub(v, hn::Load(d, c.low)), hn::Load(d, c.scale));
  const auto cell = hn::Min(hn::Max(scaled, hn::Zero(d)), hn::Load(d, c.last));
  const auto before = hn::Max(hn::Sub(cell, hn::Set(d, T(1))), hn::Zero(d));  // truncates to the cell before
  if constexpr (sizeof(T) == 8)
    hn::StoreU(hn::DemoteTo(narrow, before), narrow, to);
  else
    hn::StoreU(hn::ConvertTo(narrow, before), narrow, to);
}

/// Finds, for each lane, the interval of positions with |value - q| < radius: writes its start to `first` and
/// its length to `size`.
template <class T, class D>
HWY_INLINE void intervals(D d, const LaneColumns<T>& c, hn::Vec<D> q, const T* radius, std::uint32_t* first,
                          std::uint32_t* size) {
  HWY_ALIGN std::int32_t low[pack], high[pack];
  HWY_ALIGN T center[pack];
  hn::Store(q, d, center);
  cells_before(d, c, hn::Sub(q, hn::Load(d, radius)), low),
      cells_before(d, c, hn::Add(q, hn::Load(d, radius)), high);
  for (int l = 0; l < int(hn::Lanes(d)); ++l) {
    const Interval found =
        interval_from(c.value[l], c.start[l][low[l]], c.start[l][high[l]], center[l], radius[l]);
    first[l] = std::uint32_t(found.first), size[l] = std::uint32_t(found.size);
  }
}

/// Finds the intervals of ranks in x within each lane's radius, and if z has one column those of places in z, and counts n_z.
template <class T, class R>
void find_intervals(const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, std::int64_t group,
                    int used, std::int64_t begin, std::int64_t end) {
  const PackTag<T> d;
  const int step = int(hn::Lanes(d));
  const auto less_one = [&](std::uint32_t* to, const std::uint32_t* from) {  // without the point itself
    for (int l = 0; l < step; ++l) to[l] = from[l] ? from[l] - 1 : 0;
  };
  for (int v = 0; v < used * pack; v += step) {
    LaneColumns<T> in_x{}, in_z{};
    const R* rank[pack];
    for (int l = 0; l < step; ++l)
      in_x.set(l, s.x_cells[s.alternative(p, group, v + l)]), in_z.set(l, s.key_cells),
          rank[l] = w.template ranks<R>(v + l, s);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t at = (i - begin) * group_lanes + v;
      HWY_ALIGN T x[pack];
      for (int l = 0; l < step; ++l) x[l] = in_x.value[l][rank[l][i]];
      intervals(d, in_x, hn::Load(d, x), w.radius + at, w.first + at, w.size + at);
      if (!p.dz) {
        less_one(w.n_xz + at, w.size + at);
        continue;
      }
      if (p.dz > 1) continue;
      intervals(d, in_z, hn::Set(d, s.key.value[i]), w.radius + at, w.z_first + at, w.z_size + at);
      less_one(w.n_z + at, w.z_size + at);
    }
  }
}

/// Counts n_xz by ranks, without the point itself.
template <class T, class R>
void count_by_rank(const Shared<T>& s, const Bench<T>& w, int used, std::int64_t begin, std::int64_t end) {
  for (int l = 0; l < used * pack; ++l) {
    const R *rank = w.template ranks<R>(l, s), *place = w.template places<R>(l, s);
    for (std::int64_t at = l; at < (end - begin) * group_lanes; at += group_lanes) {
      const std::int64_t found =
          count_in_both(rank, place, {w.first[at], w.size[at]}, {w.z_first[at], w.z_size[at]});
      w.n_xz[at] = found ? std::uint32_t(found) - 1 : 0;
    }
  }
}

/// Counts n_z and n_xz of a lane whose radius is beyond the list in z.
template <class T, class R>
void count_beyond(const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, int lane, std::int64_t i,
                  std::int64_t at) {
  const std::int64_t found = write_candidates(s, w, p.dy, p.dy + p.dz, i, w.radius[at]);
  const R* rank = w.template ranks<R>(lane, s);
  std::uint32_t both = 0;
  for (std::int64_t c = 0; c < found; ++c)
    both += std::uint32_t(rank[w.candidate[c]]) - w.first[at] < w.size[at];
  w.n_z[at] = std::uint32_t(found), w.n_xz[at] = both;
}

/// Counts n_z and n_xz by lists in z, one estimate per lane. Where a distance and a radius differ in steps, these tell which is
/// greater; the few listed points whose distance in steps is that of the radius are compared exactly.
template <class T, class R>
void count_by_lists(const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, int used,
                    std::int64_t begin, std::int64_t end, std::int64_t slice) {
  const hn::CappedTag<R, group_lanes> d;
  const int width = int(hn::Lanes(d)), lanes = used * pack;
  HWY_ALIGN R radius[group_lanes] = {}, first[group_lanes] = {}, size[group_lanes] = {};
  HWY_ALIGN R in_z[group_lanes], in_both[group_lanes];
  std::int64_t read = 0;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t at = (i - begin) * group_lanes, list = (i - slice) * s.z_length;
    const auto last = R(s.z_listed[i - slice] - 1);
    const T* distance = s.z_distance + list;
    const R* far = reinterpret_cast<const R*>(s.z_far) + list;
    const std::uint32_t* neighbour = s.z_neighbour + list;
    for (std::int64_t e = 0; e < read; e += 8)  // of the next point, as far as the list before was read
      __builtin_prefetch(distance + s.z_length + e);
    for (std::int64_t e = 0; e < read; e += 16) __builtin_prefetch(neighbour + s.z_length + e);
    read = 0;
    for (int l = 0; l < lanes; ++l) {
      const T exact = w.radius[at + l];
      radius[l] = exact > distance[last] ? R(0) : R(s.in_steps(exact));
      first[l] = R(w.first[at + l]), size[l] = R(w.size[at + l]);
    }
    for (int v = 0; v < lanes; v += width) {
      const R most = *std::max_element(radius + v, radius + std::min(v + width, lanes));
      const auto reach = hn::Load(d, radius + v), from = hn::Load(d, first + v),
                 length = hn::Load(d, size + v);
      auto z = hn::Zero(d), both = z;
      R e = 0;
      for (; e < last && far[e] < most; ++e) {
        const auto nearer = hn::Lt(hn::Set(d, far[e]), reach);
        const auto rank = hn::Load(d, w.template rank_row<R>(neighbour[e]) + v);
        z = hn::Sub(z, hn::VecFromMask(d, nearer));
        both = hn::Sub(both, hn::VecFromMask(d, hn::And(nearer, hn::Lt(hn::Sub(rank, from), length))));
      }
      hn::Store(z, d, in_z + v), hn::Store(both, d, in_both + v);
      read = std::max<std::int64_t>(read, e);
    }
    for (int l = 0; l < lanes; ++l) {
      std::uint32_t &n_z = w.n_z[at + l] = in_z[l], &n_xz = w.n_xz[at + l] = in_both[l];
      const T exact = w.radius[at + l];
      // The k-th neighbour itself is often at this distance: one condition without branches is predicted well.
      for (R e = in_z[l]; bool(e < last) & bool(far[e] == radius[l]) & bool(distance[e] < exact); ++e)
        ++n_z, n_xz += R(w.template rank_row<R>(neighbour[e])[l] - first[l]) < size[l];
      if (exact > distance[last]) count_beyond<T, R>(p, s, w, l, i, at + l);
      n_z -= n_z > 0, n_xz -= n_xz > 0;  // i itself is not counted
    }
  }
}

/// Counts n_z and n_xz for any number of columns: the neighbourhood in z is found once, then counted for
/// every lane.
template <class T>
void count_by_distance(const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, int used,
                       std::int64_t begin, std::int64_t end) {
  const PackTag<T> d;
  const hn::RebindToSigned<PackTag<T>> di;
  const int step = int(hn::Lanes(d));
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t at = (i - begin) * group_lanes;
    const T furthest = *std::max_element(w.radius + at, w.radius + at + used * pack);
    const std::int64_t found = write_candidates(s, w, p.dy, p.dy + p.dz, i, furthest);
    for (int l = 0; l < used * pack; l += step) {
      const T* x[16];
      hn::Vec<PackTag<T>> xi[16];
      for (int c = 0; c < p.dx; ++c)
        x[c] = w.column(l / pack, c, p, s) + l % pack, xi[c] = hn::Load(d, x[c] + i * pack);
      const auto radius = hn::Load(d, w.radius + at + l);
      auto n_z = hn::Zero(di), n_xz = n_z;
      for (std::int64_t c = 0; c < found; ++c) {
        const T far = w.candidate_distance[c];
        const auto in_z = hn::Lt(hn::Set(d, far), radius);
        const auto in = hn::And(in_z, hn::Lt(x_distance<false>(d, p, x, xi, w.candidate[c]), radius));
        n_z = hn::Sub(n_z, hn::VecFromMask(di, hn::RebindMask(di, in_z)));
        n_xz = hn::Sub(n_xz, hn::VecFromMask(di, hn::RebindMask(di, in)));
      }
      HWY_ALIGN hn::TFromD<decltype(di)> z[pack], xz[pack];
      hn::Store(n_z, di, z), hn::Store(n_xz, di, xz);
      for (int m = 0; m < step; ++m) {  // i itself is not counted
        w.n_z[at + l + m] = std::uint32_t(z[m] ? z[m] - 1 : 0);
        w.n_xz[at + l + m] = std::uint32_t(xz[m] ? xz[m] - 1 : 0);
      }
    }
  }
}

/// Subtracts the other points of the Theiler window from n_z and n_xz. n_yz needs no correction, since the
/// lists exclude them.
template <class T>
void subtract_window(const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, int used,
                     std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t row = s.key.row[i], at = (i - begin) * group_lanes;
    const std::int64_t to = std::min(s.n - 1, row + p.theiler);
    for (std::int64_t other = std::max<std::int64_t>(0, row - p.theiler); other <= to; ++other) {
      if (other == row || !p.excluded(row, other)) continue;
      const std::int64_t j = s.key.at[other];
      T far_z = 0;
      for (int c = 0; c < p.dz; ++c) far_z = std::max(far_z, std::abs(s.z(c, p.dy)[j] - s.z(c, p.dy)[i]));
      for (int l = 0; l < used * pack; ++l) {
        T far = 0;
        for (int c = 0; c < p.dx; ++c) {
          const T* x = w.column(l / pack, c, p, s) + l % pack;
          far = std::max(far, std::abs(x[j * pack] - x[i * pack]));
        }
        const T radius = w.radius[at + l];
        w.n_z[at + l] -= p.dz && far_z < radius;
        w.n_xz[at + l] -= far_z < radius && far < radius;
      }
    }
  }
}

template <class T>
void add_terms(const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, std::int64_t group, int used,
               std::int64_t begin, std::int64_t end) {
  for (int l = 0; l < used * pack; ++l) {
    PsiSum sum;
    for (std::int64_t at = l; at < (end - begin) * group_lanes; at += group_lanes)
      sum.add((p.dz ? s.terms[w.n_z[at]].condition : 0) - s.terms[w.n_xz[at]].marginal -
              s.terms[w.n_yz[at]].marginal);
    s.sums[group * group_lanes + l].add(sum);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kolmo::knn
HWY_AFTER_NAMESPACE();
#endif
