// Included once per vector target by foreach_target.h: no ordinary include guard.
#if defined(KOLMO_KNN_LANES_COUNT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KOLMO_KNN_LANES_COUNT_INL
#undef KOLMO_KNN_LANES_COUNT_INL
#else
#define KOLMO_KNN_LANES_COUNT_INL
#endif

#include <hwy/highway.h>

#include <bit>

#include "kolmo/knn/interval-inl.hpp"
#include "kolmo/knn/lanes.hpp"

HWY_BEFORE_NAMESPACE();
namespace kolmo::knn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using PackTag = hn::CappedTag<T, pack>;

/// |x_j - x_i| in every lane of part v of a pack. One: x has one column.
template <bool One, class T, class D>
HWY_INLINE hn::Vec<D> x_distance(D d, const Problem<T>& p, const T* const* x, const hn::Vec<D>* xi,
                                 std::int64_t j) {
  auto far = hn::Abs(hn::Sub(hn::Load(d, x[0] + j * pack), xi[0]));
  if constexpr (!One)
    for (int c = 1; c < p.dx; ++c) far = hn::Max(far, hn::Abs(hn::Sub(hn::Load(d, x[c] + j * pack), xi[c])));
  return far;
}

/// One array of values per lane of a part of a pack, and its cells.
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

/// The cell before each value's own, as Cells::cell finds it.
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

/// The interval of positions with |value - q| < radius for each lane: beginnings to `first`, lengths to
/// `size`.
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

/// In each lane: the distance to the k-th neighbour, and how many points of (y, z) are nearer.
template <class D>
struct Reach {
  hn::Vec<D> radius;
  hn::Vec<hn::RebindToSigned<D>> n_yz;
};

template <class T, class D>
HWY_INLINE void count_nearer(D d, T far, Reach<D>& r) {
  const hn::RebindToSigned<D> di;
  r.n_yz = hn::Sub(r.n_yz, hn::VecFromMask(di, hn::RebindMask(di, hn::Lt(hn::Set(d, far), r.radius))));
}

/// For points whose list ran out in some lane: everything nearer than `bound` in (y, z).
template <int K, bool One, class T, class D>
HWY_NOINLINE Reach<D> search_beyond(D d, const Problem<T>& p, const Shared<T>& s, const Bench<T>& w,
                                    const T* const* x, const hn::Vec<D>* xi, std::int64_t i,
                                    hn::Vec<D> bound) {
  const T furthest = hn::GetLane(hn::MaxOfLanes(d, bound));
  const std::int64_t found =
      write_neighbours(p, s, w, i, std::nextafter(furthest, std::numeric_limits<T>::infinity()));
  Smallest<K, D> best(d, int(p.k));
  for (std::int64_t c = 0; c < found; ++c)
    best.add(d, hn::Max(x_distance<One>(d, p, x, xi, w.candidate[c]), hn::Set(d, w.candidate_distance[c])));
  Reach<D> r{best.largest(), hn::Zero(hn::RebindToSigned<D>())};
  for (std::int64_t c = 0; c < found; ++c) count_nearer(d, w.candidate_distance[c], r);
  return r;
}

template <int K, bool One, class T, class D>
HWY_INLINE Reach<D> walk(D d, const Problem<T>& p, const Shared<T>& s, const Bench<T>& w, const T* const* x,
                         std::int64_t i, std::int64_t listed) {
  const hn::RebindToSigned<D> di;
  const T* distance = s.distance + listed * s.length;
  const std::uint32_t* neighbour = s.neighbour + listed * s.length;
  const std::int64_t length = s.listed[listed];
  hn::Vec<D> xi[16];
  for (int c = 0; c < p.dx; ++c) xi[c] = hn::Load(d, x[c] + i * pack);
  const auto far = [&](std::int64_t at) HWY_ATTR {
    return hn::Max(x_distance<One>(d, p, x, xi, neighbour[at]), hn::Set(d, distance[at]));
  };

  Smallest<K, D> best(d, int(p.k));
  bool exhausted = true;
  std::int64_t at = 0;
  while (at < length && exhausted) {
    if (at + 8 <= length) {
      best.add(d, far(at), far(at + 1), far(at + 2), far(at + 3));
      best.add(d, far(at + 4), far(at + 5), far(at + 6), far(at + 7));
      at += 8;
    } else {
      best.add(d, far(at++));
    }
    exhausted = !hn::AllTrue(d, hn::Le(best.largest(), hn::Set(d, distance[at - 1])));
  }
  if (exhausted) return search_beyond<K, One>(d, p, s, w, x, xi, i, best.largest());

  // Bisect: the entry the walk stopped at is as far as every lane's radius.
  using I = hn::TFromD<decltype(di)>;
  Reach<D> r{best.largest(), hn::Zero(di)};
  const auto last = hn::Set(di, I(at - 1)), one = hn::Set(di, I(1));
  for (auto step = I(std::bit_floor(std::uint64_t(at))); step > 0; step /= 2) {
    const auto next = hn::Add(r.n_yz, hn::Set(di, step));
    const auto v = hn::GatherIndex(d, distance, hn::Min(hn::Sub(next, one), last));
    r.n_yz = hn::IfThenElse(hn::RebindMask(di, hn::Lt(v, r.radius)), next, r.n_yz);
  }
  return r;
}

/// Radii and counts for one pack over the points [begin, end) of a tile; `slice` is the first point with
/// lists.
template <int K, class T, class R>
void walk_tile(const Problem<T>& p, const Shared<T>& s, const Bench<T>& w, std::int64_t group, int of_pack,
               std::int64_t begin, std::int64_t end, std::int64_t slice) {
  const PackTag<T> d;
  const hn::RebindToSigned<PackTag<T>> di;
  using I = hn::TFromD<decltype(di)>;
  const int step = int(hn::Lanes(d));
  for (int v = 0; v < pack; v += step) {
    const T* x[16];
    for (int c = 0; c < p.dx; ++c) x[c] = w.column(of_pack, c, p, s) + v;
    LaneColumns<T> in_x{}, in_z{};
    for (int l = 0; l < step; ++l) {
      const std::int64_t lane = std::min(group * group_lanes + of_pack * pack + v + l, s.lanes - 1);
      if (p.dx == 1) in_x.set(l, s.x_cells[lane / p.estimates()]);
      in_z.set(l, s.key_cells);
    }
    const auto less_one = [&](std::uint32_t* to, const std::uint32_t* from) {  // without the point itself
      for (int l = 0; l < step; ++l) to[l] = from[l] ? from[l] - 1 : 0;
    };
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t at = (i - begin) * group_lanes + of_pack * pack + v;
      const Reach<PackTag<T>> reach = p.dx == 1 ? walk<K, true>(d, p, s, w, x, i, i - slice)
                                                : walk<K, false>(d, p, s, w, x, i, i - slice);
      hn::Store(reach.radius, d, w.radius + at);
      HWY_ALIGN I lanes[pack];
      hn::Store(reach.n_yz, di, lanes);
      for (int l = 0; l < step; ++l) w.n_yz[at + l] = std::uint32_t(lanes[l]);
      if (p.dx == 1 && p.dz <= 1) {
        intervals(d, in_x, hn::Load(d, x[0] + i * pack), w.radius + at, w.first + at, w.size + at);
        if (!p.dz) less_one(w.n_xz + at, w.size + at);
      }
      if (p.dx == 1 && p.dz == 1) {
        intervals(d, in_z, hn::Set(d, s.key.value[i]), w.radius + at, w.z_first + at, w.z_size + at);
        less_one(w.n_z + at, w.z_size + at);
      }
    }
  }
}

/// n_xz by ranks: the points whose place in z and whose rank in x both fall into the lane's intervals.
template <class T, class R>
void count_by_rank(const Shared<T>& s, const Bench<T>& w, int used, std::int64_t begin, std::int64_t end) {
  const hn::CappedTag<R, group_lanes> d;
  const int step = int(hn::Lanes(d));
  const R* rank = reinterpret_cast<const R*>(w.rank);
  HWY_ALIGN R first[group_lanes], size[group_lanes], z_first[group_lanes], z_size[group_lanes],
      n[group_lanes];
  std::fill_n(size, group_lanes, R(0)), std::fill_n(z_size, group_lanes, R(0));
  std::fill_n(first, group_lanes, R(0)), std::fill_n(z_first, group_lanes, R(0));
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t at = (i - begin) * group_lanes;
    // All lanes count from `from` to `to`; between `inner` and `outer` every lane's interval in z holds.
    std::uint32_t from = std::uint32_t(s.n), inner = 0, outer = from, to = 0;
    for (int l = 0; l < used * pack; ++l) {
      first[l] = R(w.first[at + l]), size[l] = R(w.size[at + l]);
      z_first[l] = R(w.z_first[at + l]), z_size[l] = R(w.z_size[at + l]);
      const std::uint32_t z_begin = w.z_first[at + l], z_end = z_begin + w.z_size[at + l];
      from = std::min(from, z_begin), inner = std::max(inner, z_begin);
      outer = std::min(outer, z_end), to = std::max(to, z_end);
    }
    if (inner >= outer) inner = outer = to;
    for (int v = 0; v < group_lanes; v += step) {
      const auto f = hn::Load(d, first + v), m = hn::Load(d, size + v);
      const auto zf = hn::Load(d, z_first + v), zm = hn::Load(d, z_size + v), one = hn::Set(d, R(1));
      auto count = hn::Zero(d);
      const auto add = [&](std::uint32_t j, std::uint32_t end, auto test_z) HWY_ATTR {
        auto place = hn::Sub(hn::Set(d, R(j)), zf);
        for (const R* r = rank + std::int64_t(j) * group_lanes + v; j < end; ++j, r += group_lanes) {
          auto in = hn::Lt(hn::Sub(hn::Load(d, r), f), m);
          if constexpr (test_z.value) in = hn::And(in, hn::Lt(place, zm)), place = hn::Add(place, one);
          count = hn::Sub(count, hn::VecFromMask(d, in));
        }
      };
      add(from, inner, std::true_type()), add(inner, outer, std::false_type()),
          add(outer, to, std::true_type());
      hn::Store(count, d, n + v);
    }
    for (int l = 0; l < used * pack; ++l)
      w.n_xz[at + l] = n[l] ? std::uint32_t(n[l]) - 1 : 0;  // without i itself
  }
}

/// n_z and n_xz for any number of columns: the neighbourhood in z once, then every lane.
template <class T>
void count_by_distance(const Problem<T>& p, const Shared<T>& s, const Bench<T>& w, int used,
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
      for (int m = 0; m < step; ++m) {  // without i itself
        w.n_z[at + l + m] = std::uint32_t(z[m] ? z[m] - 1 : 0);
        w.n_xz[at + l + m] = std::uint32_t(xz[m] ? xz[m] - 1 : 0);
      }
    }
  }
}

/// Takes the other points of the Theiler window out of n_z and n_xz; the lists have left them out of n_yz.
template <class T>
void subtract_window(const Problem<T>& p, const Shared<T>& s, const Bench<T>& w, int used, std::int64_t begin,
                     std::int64_t end) {
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
void add_terms(const Problem<T>& p, const Shared<T>& s, const Bench<T>& w, std::int64_t group, int used,
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
