// Many estimates at once. All estimates of a target share y and z, so one list of neighbours in (y, z) per
// point serves all of them. The list is walked with one estimate per vector lane until no lane can find a
// nearer point: first in 16-bit steps, which separate the k-th neighbour from nearly all others, then exactly
// near it. Counts are computed from ranks: |x_j - x_i| < eps holds for an interval of ranks, found by
// bisecting the exact predicate, and |z_j - z_i| < eps for another, so that counting in (x, z) compares
// 16-bit integers.
#include "kolmo/knn/lanes.hpp"

#include "kolmo/knn/cpu_engines.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/knn/lanes.cpp"
#include "kolmo/knn/targets.hpp"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on
#include "kolmo/knn/lanes-inl.hpp"
#include "kolmo/knn/lanes_count-inl.hpp"
#include "kolmo/knn/lanes_rank-inl.hpp"
#include "kolmo/knn/lanes_steps-inl.hpp"
#include "kolmo/knn/lanes_walk-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kolmo::knn {
namespace HWY_NAMESPACE {

template <class T>
void prepare(const KsgProblem<T>& p, Shared<T>& s) {
  const T* key = p.dz ? p.z : p.y;
  s.key.sort(key, p.dz ? p.dz : p.dy, s.scratch);
  const auto place = [&](T* to, const T* from, int step) {
    for (std::int64_t i = 0; i < s.padded; ++i)
      to[i] = i < s.n ? from[s.key.row[i] * step] : std::numeric_limits<T>::infinity();
  };
  for (int c = 0; c < p.dy; ++c) place(s.yz + c * s.padded, p.y + c, p.dy);
  for (int c = 0; c < p.dz; ++c) place(s.yz + (p.dy + c) * s.padded, p.z + c, p.dz);
  s.key_cells.build(s.n);
  const auto sort_padded = [&](const Sorted<T>& to, const T* column, Cells<T>& cells) {
    to.sort(column, 1, s.scratch);
    std::fill(to.value + s.n, to.value + s.padded, std::numeric_limits<T>::infinity());
    cells.build(s.n);
  };
  if (p.dz) sort_padded(s.y, s.yz, s.y_cells);
  for (std::int64_t b = 0; b < (s.ranked ? p.b : 0); ++b) {
    const Sorted<T> x{s.x_sorted + b * s.padded, s.scratch_row, s.x_rank + b * s.padded, s.n};
    sort_padded(x, p.x + b * p.x_step, s.x_cells[b]);
  }
  for (std::int64_t n = 0; n <= s.n; ++n) s.terms[n] = psi_term(p.algorithm, p.conditional(), n);
  std::fill_n(s.sums, s.groups * group_lanes, PsiSum{});
}

template <class T>
Bench<T> bench_of(const KsgProblem<T>& p, const Shared<T>& s, int thread) {
  Arena arena(s.benches + std::size_t(thread) * s.bench_bytes);
  Bench<T> w;
  w.layout(p, s, arena);
  return w;
}

template <class T>
void write_lists(const KsgProblem<T>& p, const Shared<T>& s, std::int64_t begin, std::int64_t end,
                 int threads) {
  for (int t = 0; t < threads; ++t) {
    const Bench<T> w = bench_of(p, s, t);
    std::fill_n(w.guess, guesses, T(0));
    *w.last_reach = std::numeric_limits<T>::infinity();
  }
  constexpr std::int64_t chunk = 64;
  parallel_for(threads, (end - begin + chunk - 1) / chunk, [&](std::int64_t item, int thread) {
    const Bench<T> w = bench_of(p, s, thread);
    const std::int64_t last = std::min(end, begin + (item + 1) * chunk);
    for (std::int64_t i = begin + item * chunk; i < last; ++i) {
      const std::int64_t at = i - begin;
      s.listed[at] =
          std::int32_t(write_list(p, s, w, i, s.distance + at * s.length, s.neighbour + at * s.length));
      if (s.z_length) write_z_list(p, s, w, i, at);
    }
  });
}

/// Chooses the width of a step such that x within eight interquartile ranges of its quartiles, and most of
/// the listed distances, fit into 15 bits.
template <class T>
void write_steps(const KsgProblem<T>& p, Shared<T>& s, std::int64_t points, int threads) {
  constexpr T most = 32766;
  T widest = 0;
  for (std::int64_t b = 0; b < p.b; ++b) {
    const T* x = s.x_sorted + b * s.padded;
    const T lower = x[s.n / 4], upper = x[s.n - 1 - s.n / 4], reach = 8 * (upper - lower);
    const T low = reach > 0 ? std::max(x[0], lower - reach) : x[0];
    const T high = reach > 0 ? std::min(x[s.n - 1], upper + reach) : x[s.n - 1];
    s.x_range[b] = {low, std::int16_t(low > x[0] ? 1 : -32768), 0};
    widest = std::max(widest, high - low);
  }
  double mean = 0;
  for (std::int64_t i = 0; i < points; ++i)
    if (s.listed[i]) mean += double(s.distance[i * s.length + s.listed[i] - 1]) / double(points);
  s.step = std::max(widest / most, T(mean / 8192));
  const T per_step = 1 / s.step;
  if (!(s.step > 0) || !std::isfinite(per_step)) {
    s.step = 0;
    return;
  }
  for (std::int64_t b = 0; b < p.b; ++b) {
    const T *x = s.x_sorted + b * s.padded, low = s.x_range[b].low;
    for (std::int64_t r = 0; r < s.n; ++r)
      s.x_steps[b * s.padded + r] = std::int16_t(std::clamp((x[r] - low) * per_step, T(0), T(32767)));
    s.x_range[b].most = (x[s.n - 1] - low) * per_step < 32767 ? 32767 : 32766;
  }
  parallel_for(threads, points, [&](std::int64_t i, int) {
    for (std::int64_t e = i * s.length; e < i * s.length + s.listed[i]; ++e)
      s.far[e] = std::int16_t(s.in_steps(s.distance[e]));
  });
}

/// Writes the distances of the lists in z in steps.
template <class T, class R>
void write_z_steps(const Shared<T>& s, std::int64_t points, int threads) {
  parallel_for(threads, points, [&](std::int64_t i, int) {
    for (std::int64_t e = i * s.z_length; e < i * s.z_length + s.z_listed[i]; ++e)
      reinterpret_cast<R*>(s.z_far)[e] = R(s.in_steps(s.z_distance[e]));
  });
}

/// Calls put(pack, row, position of the row in the key) for every row, with the maps of the pack's lanes in
/// w.index.
template <class T, class Put>
void for_each_row(const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, std::int64_t group, int used,
                  const Put& put) {
  for (int of_pack = 0; of_pack < used; ++of_pack) {
    for (int l = 0; l < pack; ++l) {
      const std::int64_t lane = std::min(group * group_lanes + of_pack * pack + l, s.lanes - 1);
      write_map(p.surrogate(lane / p.estimates(), lane % p.estimates()), s.n, w.once, w.candidate,
                w.index + l * s.padded);
    }
    for (std::int64_t i = 0; i < s.n; ++i) put(of_pack, i, std::int64_t(s.key.at[i]));
  }
}

/// Stores the samples of x of the group's estimates side by side.
template <class T>
void load_columns(const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, std::int64_t group,
                  int used) {
  const T* x[group_lanes];
  for (int l = 0; l < group_lanes; ++l) x[l] = p.x + s.alternative(p, group, l) * p.x_step;
  for_each_row(p, s, w, group, used, [&](int of_pack, std::int64_t i, std::int64_t at) {
    for (int l = 0; l < pack; ++l) {
      const T* row = x[of_pack * pack + l] + std::int64_t(w.index[l * s.padded + i]) * p.dx;
      for (int c = 0; c < p.dx; ++c) w.column(of_pack, c, p, s)[at * pack + l] = row[c];
    }
  });
}

/// Stores the ranks of the group's samples, and their values in steps.
template <class T, class R>
void load_ranks(const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, std::int64_t group, int used) {
  const std::uint32_t* rank[group_lanes];
  const std::int16_t* steps[group_lanes];
  for (int l = 0; l < group_lanes; ++l) {
    const std::int64_t b = s.alternative(p, group, l);
    rank[l] = s.x_rank + b * s.padded, steps[l] = s.x_steps + b * s.padded;
  }
  for_each_row(p, s, w, group, used, [&](int of_pack, std::int64_t i, std::int64_t at) {
    for (int l = of_pack * pack; l < (of_pack + 1) * pack; ++l) {
      const std::uint32_t r = rank[l][w.index[l % pack * s.padded + i]];
      w.template ranks<R>(l, s)[at] = R(r), w.template places<R>(l, s)[r] = R(at);
      w.steps[at * group_lanes + l] = steps[l][r];
      if (s.z_length) w.template rank_row<R>(at)[l] = R(r);
    }
  });
}

template <int K, class T, class R>
void run_group(const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, std::int64_t group,
               std::int64_t begin, std::int64_t end) {
  const int used = int(std::min<std::int64_t>(packs, (s.lanes - group * group_lanes + pack - 1) / pack));
  if (s.ranked) load_ranks<T, R>(p, s, w, group, used);
  bool columns = false;
  for (std::int64_t t = begin; t < end; t += tile) {
    const std::int64_t stop = std::min(end, t + tile);
    const bool in_steps = *w.in_steps;
    if (!columns && (!in_steps || p.theiler)) load_columns(p, s, w, group, used), columns = true;
    if (in_steps) {
      const std::int64_t exactly = StepWalk<K, T, R>(p, s, w, group, used)(t, stop, begin);
      *w.in_steps = exactly * 8 < (stop - t) * used * pack;
    } else {
      for (int of_pack = 0; of_pack < used; ++of_pack)
        p.dx == 1 ? walk_columns<K, true>(p, s, w, of_pack, t, stop, begin)
                  : walk_columns<K, false>(p, s, w, of_pack, t, stop, begin);
    }
    if (s.ranked)
      find_intervals<T, R>(p, s, w, group, used, t, stop);
    else
      count_by_distance<T>(p, s, w, used, t, stop);
    if (s.z_length)
      count_by_lists<T, R>(p, s, w, used, t, stop, begin);
    else if (s.ranked && p.dz)
      count_by_rank<T, R>(s, w, used, t, stop);
    if (p.theiler) subtract_window<T>(p, s, w, used, t, stop);
    add_terms(p, s, w, group, used, t, stop);
  }
}

template <int K, class T>
void run_groups(const KsgProblem<T>& p, const Shared<T>& s, std::int64_t begin, std::int64_t end,
                int threads) {
  if (s.z_length)
    s.n < 65536 ? write_z_steps<T, std::uint16_t>(s, end - begin, threads)
                : write_z_steps<T, std::uint32_t>(s, end - begin, threads);
  parallel_for(threads, s.groups, [&](std::int64_t group, int thread) {
    const Bench<T> w = bench_of(p, s, thread);
    if (s.n < 65536)
      run_group<K, T, std::uint16_t>(p, s, w, group, begin, end);
    else
      run_group<K, T, std::uint32_t>(p, s, w, group, begin, end);
  });
}

template <class T>
void all_lanes(const KsgProblem<T>& p, Shared<T>& s, int threads) {
  prepare(p, s);
  for (std::int64_t begin = 0; begin < s.n; begin += s.slice) {
    const std::int64_t end = std::min(s.n, begin + s.slice);
    write_lists(p, s, begin, end, threads);
    s.step = 0;
    if (s.ranked) write_steps(p, s, end - begin, threads);
    for (int t = 0; t < threads; ++t) *bench_of(p, s, t).in_steps = s.step > 0;
    switch (p.k) {
      case 3:
        run_groups<3>(p, s, begin, end, threads);
        break;
      case 4:
        run_groups<4>(p, s, begin, end, threads);
        break;
      case 5:
        run_groups<5>(p, s, begin, end, threads);
        break;
      default:
        run_groups<0>(p, s, begin, end, threads);
    }
  }
  const double constant = PsiSum::constant(p.algorithm, p.conditional(), p.k, p.n);
  for (std::int64_t lane = 0; lane < s.lanes; ++lane) p.value[lane] = s.sums[lane].estimate(constant, p.n);
}

void lanes_f64(const KsgProblem<double>& p, Shared<double>& s, int threads) { all_lanes(p, s, threads); }
void lanes_f32(const KsgProblem<float>& p, Shared<float>& s, int threads) { all_lanes(p, s, threads); }

}  // namespace HWY_NAMESPACE
}  // namespace kolmo::knn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kolmo::knn {

HWY_EXPORT(lanes_f64);
HWY_EXPORT(lanes_f32);

template <class T>
bool lanes_fit(const KsgProblem<T>& p) {
  return p.algorithm == KsgAlgorithm::ksg1 &&
         double(p.b * p.estimates()) >= fewest_listed_estimates(p.n, p.dz) && p.n <= most_listed_rows(p.dz) &&
         (p.dz > 0 || p.dx == 1);
}
template <class T>
void lanes_layout(const KsgProblem<T>& p, Arena& arena, int threads) {
  Shared<T> s;
  shared_layout(p, s, arena, threads);
}
template <class T>
void lanes(const KsgProblem<T>& p, Arena arena, int threads) {
  Shared<T> s;
  shared_layout(p, s, arena, threads);
  if constexpr (sizeof(T) == 8)
    HWY_DYNAMIC_DISPATCH(lanes_f64)(p, s, threads);
  else
    HWY_DYNAMIC_DISPATCH(lanes_f32)(p, s, threads);
}

template bool lanes_fit(const KsgProblem<double>&);
template bool lanes_fit(const KsgProblem<float>&);
template void lanes_layout(const KsgProblem<double>&, Arena&, int);
template void lanes_layout(const KsgProblem<float>&, Arena&, int);
template void lanes(const KsgProblem<double>&, Arena, int);
template void lanes(const KsgProblem<float>&, Arena, int);

}  // namespace kolmo::knn
#endif
