#pragma once
#include <limits>

#include "kolmo/base/log.hpp"
#include "kolmo/base/status.hpp"
#include "kolmo/ops/dynamics/entropy_production/entropy_production.hpp"
#include "kolmo/skeleton/row_sum.hpp"

namespace kolmo {

/// (f - g) ln(f / g) of the fluxes in both directions of each pair of states i < j.
template <class T>
struct FluxPairs {
  const T *rates, *p;
  std::int64_t n;

  struct Row {
    const T *rates, *p;
    std::int64_t n;
    KOLMO_HD double flux(std::int64_t i, std::int64_t j) const {
      const auto w = double(rates[i * n + j]);
      return p ? exact_mul(double(p[i]), w) : w;
    }
    struct Fluxes {
      double there, back;
    };
    KOLMO_HD Fluxes fetch(std::int64_t pair) const {
      const std::int64_t i = quotient(pair, n), j = pair - i * n;
      return i < j ? Fluxes{flux(i, j), flux(j, i)} : Fluxes{};
    }
    KOLMO_HD Sums<1> of(const Fluxes& x) const {
      const double f = x.there, g = x.back;
      if (f == 0 && g == 0) return {{0}};
      const bool moderate = is_between<-450, 450>(f) && is_between<-450, 450>(g);
      if (!moderate && !(f - f == 0 && g - g == 0)) return {{std::numeric_limits<double>::quiet_NaN()}};
      const double force =
          moderate ? log_scaled(exact_quotient(f, g), 0) : exact_add(log_exact(f), -log_exact(g));
      return {{exact_mul(exact_add(f, -g), force)}};
    }
    KOLMO_HD Sums<1> operator()(std::int64_t pair) const { return of(fetch(pair)); }
  };
  KOLMO_HD Row operator()(std::int64_t row) const {
    return {rates + row * n * n, p ? p + row * n : nullptr, n};
  }
};

struct ProductionOfProcess {
  double* production;
  Status status = {};
  KOLMO_HD void operator()(std::int64_t process, const Sums<1>& s) const {
    if (s.value[0] != s.value[0]) status.report(0, process);
    production[process] = one_nan(s.value[0]);
  }
};

struct FluxSums {
  using A = EntropyProductionArgs;
  static constexpr int sums = 1;
  using DTypes = ElementTypes<double, float>;
  static const Tensor& element(const A& a) { return a.rates; }
  static std::int64_t rows(const A& a) { return a.production.size(); }
  static std::int64_t length(const A& a) { return a.rates.dim(-1) * a.rates.dim(-1); }
  template <class T>
  static FluxPairs<T> terms(const A& a) {
    return {a.rates.as<T>(), a.p.as<T>(), a.rates.dim(-1)};
  }
  template <class T>
  static ProductionOfProcess done(const A& a) {
    return {a.production.as<double>()};
  }
};

}  // namespace kolmo
