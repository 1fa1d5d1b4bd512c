#pragma once
#include <cmath>
#include <limits>

#include "kolmo/base/entropy.hpp"
#include "kolmo/ops/info/free_energy/free_energy.hpp"
#include "kolmo/skeleton/row_sum.hpp"

namespace kolmo {

/// The terms of complexity and accuracy of rows of states.
template <class T>
struct BeliefRows {
  using Element = T;
  const T *q, *p, *log_likelihood;
  std::int64_t k;

  struct Row {
    static constexpr int arrays = 3;
    const T *q, *p, *log_likelihood;
    struct State {
      T q, p, log_likelihood;
    };
    template <int W>
    struct States {
      Pack<T, W> q, p, log_likelihood;
      KOLMO_HD State operator[](int w) const { return {q.value[w], p.value[w], log_likelihood.value[w]}; }
    };
    KOLMO_HD State fetch(std::int64_t i) const { return {q[i], p[i], log_likelihood[i]}; }
    template <int W>
    KOLMO_HD States<W> fetch_pack(std::int64_t i) const {
      return {load_pack<W>(q + i), load_pack<W>(p + i), load_pack<W>(log_likelihood + i)};
    }
    KOLMO_HD Sums<2> of(const State& s) const {
      return {{divergence_term(double(s.q), double(s.p)), accuracy(s)}};
    }
    /// Whether of_plain(), which has no branches, gives all N terms.
    template <int N, class At>
    KOLMO_HD static bool are_plain(const At& at) {
      return are_plain_divergences<N>(at);
    }
    KOLMO_HD Sums<2> of_plain(const State& s) const {
      return {{plain_divergence_term(double(s.q), double(s.p)), accuracy(s)}};
    }
    KOLMO_HD static double accuracy(const State& s) {
      const double belief = double(s.q), expects = double(s.log_likelihood);
      const bool known = expects == expects && !(belief > 0 && expects == HUGE_VAL);
      const double product = belief == 0 ? 0 : exact_mul(belief, expects);
      return known ? product : std::numeric_limits<double>::quiet_NaN();
    }
    KOLMO_HD Sums<2> operator()(std::int64_t i) const { return of(fetch(i)); }
  };
  KOLMO_HD Row operator()(std::int64_t row) const {
    return {q + row * k, p + row * k, log_likelihood + row * k};
  }
  bool packed(std::int64_t rows) const { return packed_rows<T>(rows, k, q, p, log_likelihood); }
};

struct FreeEnergyOfRow {
  double *free_energy, *complexity, *accuracy;
  Status status = {};
  KOLMO_HD void operator()(std::int64_t row, const Sums<2>& s) const {
    if (s.value[0] != s.value[0])
      status.report(0, row);
    else if (s.value[1] != s.value[1])
      status.report(1, row);
    free_energy[row] = one_nan(exact_add(s.value[0], -s.value[1]));
    if (complexity) complexity[row] = one_nan(s.value[0]);
    if (accuracy) accuracy[row] = one_nan(s.value[1]);
  }
};

struct FreeEnergySums {
  using A = FreeEnergyArgs;
  static constexpr int sums = 2;
  using DTypes = ElementTypes<double, float>;
  static const Tensor& element(const A& a) { return a.q; }
  static std::int64_t rows(const A& a) { return a.free_energy.size(); }
  static std::int64_t length(const A& a) { return a.q.dim(-1); }
  template <class T>
  static BeliefRows<T> terms(const A& a) {
    return {a.q.as<T>(), a.p.as<T>(), a.log_likelihood.as<T>(), length(a)};
  }
  template <class T>
  static FreeEnergyOfRow done(const A& a) {
    return {a.free_energy.as<double>(), a.complexity.as<double>(), a.accuracy.as<double>()};
  }
};

}  // namespace kolmo
