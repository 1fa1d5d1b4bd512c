#pragma once
#include <cmath>
#include <utility>

#include "kolmo/base/row_terms.hpp"
#include "kolmo/base/sparse.hpp"
#include "kolmo/ops/dynamics/kuramoto_evolution/kuramoto_evolution.hpp"

namespace kolmo {

/// Sine and cosine, side by side, of a phase at which the derivative is taken.
struct SinCos {
  double sin, cos;
};

/// Terms of the sums of A_ij (sin, cos)(theta_j) over j, for each i. If all pairs are coupled alike, one sum
/// serves all i.
template <class T>
struct CouplingRows {
  const SinCos* phase;
  const T* adjacency;  ///< null: A is 1, and a row is a batch entry
  std::int64_t n;

  struct Row {
    const SinCos* phase;
    const T* weight;
    KOLMO_HD Sums<2> operator()(std::int64_t j) const {
      const SinCos p = phase[j];
      if (!weight) return {{p.sin, p.cos}};
      return {{exact_mul(double(weight[j]), p.sin), exact_mul(double(weight[j]), p.cos)}};
    }
  };
  KOLMO_HD Row operator()(std::int64_t row) const {
    if (!adjacency) return {phase + row * n, nullptr};
    const std::int64_t b = row / n;
    return {phase + b * n, adjacency + (row - b * n) * n};
  }
};
struct KeepSums {
  Sums<2>* sums;
  KOLMO_HD void operator()(std::int64_t row, const Sums<2>& s) const { sums[row] = s; }
};

/// The workspace: sums per row, phases at the beginning of a step, and the weighted derivatives of its
/// stages.
struct KuramotoSpace {
  std::int64_t n, batch, rows;  ///< `rows` counts the sums; 0 if A is sparse
  /// These differ only if A is sparse, since its rows read the phases of others.
  SinCos *phase, *next;
  double *theta, *slope;
  Sums<2>*sums, *partial;

  KuramotoSpace(Arena& arena, const KuramotoEvolutionArgs& a)
      : n(a.theta.dim(-1)),
        batch(a.theta.size() / n),
        rows(a.offsets.given()     ? 0
             : a.adjacency.given() ? batch * n
                                   : batch),
        phase(arena.take<SinCos>(batch * n)),
        next(a.offsets.given() ? arena.take<SinCos>(batch * n) : phase),
        theta(arena.take<double>(batch * n)),
        slope(arena.take<double>(batch * n)),
        sums(arena.take<Sums<2>>(rows)),
        partial(take_partial_sums<2>(arena, rows, n)) {}
};

template <class T>
struct BeginKuramoto {
  const T* from;
  double *theta, *slope;
  SinCos* phase;
  std::int64_t n;
  std::int64_t items() const { return n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    theta[i] = double(from[i]), slope[i] = 0;
    phase[i] = {std::sin(theta[i]), std::cos(theta[i])};
  }
};

/// One stage of a step. Adds the derivative, times `weight`, to the slope of the step. Computes the phase of
/// the next stage, which is `reach` times the derivative away from the beginning of the step. The last stage
/// ends the step.
template <class T>
struct AdvanceKuramoto {
  const T* omega;
  SparseRows<T> sparse;
  const Sums<2>* sums;
  double *theta, *slope;
  const SinCos* phase;
  SinCos* next;  ///< may be `phase`
  T* result;     ///< set in the very last stage, else null
  std::int64_t n, count;
  bool own_sum, last;
  double factor, weight, reach;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t i) const {
    const std::int64_t b = i / n;
    double sin = 0, cos = 0;
    if (sparse.offsets) {
      sparse.each(i - b * n, [&](std::int64_t j, T value) {
        sin += double(value) * phase[b * n + j].sin, cos += double(value) * phase[b * n + j].cos;
      });
    } else {
      const Sums<2>& s = sums[own_sum ? i : b];
      sin = s.value[0], cos = s.value[1];
    }
    const SinCos p = phase[i];
    const double derivative = double(omega[i]) + factor * (p.cos * sin - p.sin * cos);
    const double total = slope[i] + weight * derivative;
    slope[i] = last ? 0 : total;
    const double at = theta[i] + (last ? total : reach * derivative);
    if (last) theta[i] = at;
    if (result)
      result[i] = T(at);
    else
      next[i] = {std::sin(at), std::cos(at)};
  }
};

/// Computes the operator. sum(job, items, terms) runs a job of base/sums.hpp; each(f) calls f(i) for all
/// items of f.
template <class T, class Sum, class Each>
void evolve(const KuramotoEvolutionArgs& a, KuramotoSpace w, Status status, const Sum& sum,
            const Each& each) {
  constexpr double reach[] = {0.5, 0.5, 1, 0}, weight[] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
  const bool rk4 = a.method == Integrator::rk4;
  const std::int64_t count = w.batch * w.n;
  const SparseRows<T> sparse(a.offsets, a.columns, a.values, w.n, w.n, status);
  each(BeginKuramoto<T>{a.theta.as<T>(), w.theta, w.slope, w.phase, count});
  for (std::int64_t step = 0; step < a.steps; ++step)
    for (int stage = 0; stage < (rk4 ? 4 : 1); ++stage) {
      if (w.rows)
        sum_rows<2>(CouplingRows<T>{w.phase, a.adjacency.as<T>(), w.n}, KeepSums{w.sums}, w.rows, w.n,
                    w.partial, sum);
      const bool last = !rk4 || stage == 3, end = last && step == a.steps - 1;
      each(AdvanceKuramoto<T>{a.omega.as<T>(), sparse, w.sums, w.theta, w.slope, w.phase, w.next,
                              end ? a.result.as<T>() : nullptr, w.n, count, a.adjacency.given(), last,
                              a.strength / double(w.n), a.dt * (rk4 ? weight[stage] : 1),
                              a.dt * (rk4 ? reach[stage] : 0)});
      std::swap(w.phase, w.next);
    }
}

}  // namespace kolmo
