#pragma once
#include "kolmo/base/entropy.hpp"
#include "kolmo/ops/info/kl_divergence/kl_divergence.hpp"
#include "kolmo/skeleton/row_sum.hpp"

namespace kolmo {

/// The terms p ln(p / q) of rows.
template <class T>
struct DivergenceRows {
  using Element = T;
  const T *p, *q;
  std::int64_t k;

  struct Row {
    static constexpr int arrays = 2;
    const T *p, *q;
    struct Pair {
      T p, q;
    };
    template <int W>
    struct Pairs {
      Pack<T, W> p, q;
      KOLMO_HD Pair operator[](int w) const { return {p.value[w], q.value[w]}; }
    };
    KOLMO_HD Pair fetch(std::int64_t i) const { return {p[i], q[i]}; }
    template <int W>
    KOLMO_HD Pairs<W> fetch_pack(std::int64_t i) const {
      return {load_pack<W>(p + i), load_pack<W>(q + i)};
    }
    KOLMO_HD Sums<1> of(const Pair& x) const { return {{divergence_term(double(x.p), double(x.q))}}; }
    /// Whether of_plain(), which has no branches, gives all N terms.
    template <int N, class At>
    KOLMO_HD static bool are_plain(const At& at) {
      return are_plain_divergences<N>(at);
    }
    KOLMO_HD Sums<1> of_plain(const Pair& x) const {
      return {{plain_divergence_term(double(x.p), double(x.q))}};
    }
    KOLMO_HD Sums<1> operator()(std::int64_t i) const { return of(fetch(i)); }
  };
  KOLMO_HD Row operator()(std::int64_t row) const { return {p + row * k, q + row * k}; }
  bool packed(std::int64_t rows) const { return packed_rows<T>(rows, k, p, q); }
};

struct DivergenceOfRow {
  double* divergence;
  Status status = {};
  KOLMO_HD void operator()(std::int64_t row, const Sums<1>& s) const {
    if (s.value[0] != s.value[0]) status.report(0, row);
    divergence[row] = one_nan(s.value[0]);
  }
};

struct Divergence {
  using A = KlDivergenceArgs;
  static constexpr int sums = 1;
  using DTypes = ElementTypes<double, float>;
  static const Tensor& element(const A& a) { return a.p; }
  static std::int64_t rows(const A& a) { return a.divergence.size(); }
  static std::int64_t length(const A& a) { return a.p.dim(-1); }
  template <class T>
  static DivergenceRows<T> terms(const A& a) {
    return {a.p.as<T>(), a.q.as<T>(), length(a)};
  }
  template <class T>
  static DivergenceOfRow done(const A& a) {
    return {a.divergence.as<double>()};
  }
};

}  // namespace kolmo
