#pragma once
#include <limits>

#include "kolmo/base/log.hpp"
#include "kolmo/base/row_terms.hpp"
#include "kolmo/base/status.hpp"
#include "kolmo/ops/dynamics/entropy_production/entropy_production.hpp"

namespace kolmo {

/// (f - g) ln(f / g) for any fluxes, also those outside the range from 2^-450 to 2^450.
KOLMO_HD inline double flux_term_of_any(double f, double g) {
  if (f == 0 && g == 0) return 0;
  if (!(f - f == 0 && g - g == 0)) return std::numeric_limits<double>::quiet_NaN();
  return exact_mul(exact_add(f, -g), exact_add(log_exact(f), -log_exact(g)));
}

/// (f - g) ln(f / g) for W pairs of moderate fluxes, with the logarithm within 6 roundings. W pairs are
/// computed together, since each coefficient then serves W times. Method: ln(f / g) = k ln 2 + 2 artanh(s)
/// with G = 2^k g in [f / 1.502, 1.502 f] and s = (f - G) / (f + G), where f - G is exact. The series of
/// artanh is interpolated at Chebyshev nodes, to 2^-53.9.
template <int W>
KOLMO_HD void flux_terms(const double (&f)[W], const double (&g)[W], double (&to)[W]) {
  double k[W], s[W], z[W], sum[W];
  const auto each = [](auto&& step) {
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int w = 0; w < W; ++w) step(w);
  };
  each([&](int w) {
    const auto upper = [](double x) { return std::uint32_t(std::bit_cast<std::uint64_t>(x) >> 32); };
    const std::int32_t exponent = std::int32_t(upper(f[w]) - upper(g[w]) + (1u << 19)) >> 20;
    k[w] = exponent;
    const double scaled = std::bit_cast<double>(std::bit_cast<std::uint64_t>(g[w]) +
                                                (std::uint64_t(std::int64_t(exponent)) << 52));
    s[w] = exact_quotient(exact_add(f[w], -scaled), exact_add(f[w], scaled)), z[w] = exact_mul(s[w], s[w]);
    sum[w] = 0x1.35af89985abbp-3;
  });
  for (const double c : {0x1.3900f50437d68p-3, 0x1.746bcc38e0c89p-3, 0x1.c71c3c81e8af8p-3,
                         0x1.2492495261d21p-2, 0x1.999999997c1bcp-2, 0x1.555555555556p-1})
    each([&](int w) { sum[w] = exact_add(c, exact_mul(sum[w], z[w])); });
  // ln 2 is stored in two parts; k times the first is exact.
  constexpr double ln2_high = 0x1.62e42fefap-1, ln2_low = 0x1.cf79abc9e3b3ap-40;
  each([&](int w) {
    const double small = exact_add(exact_mul(s[w], exact_mul(z[w], sum[w])), exact_mul(k[w], ln2_low));
    const double force = exact_add(exact_mul(k[w], ln2_high), exact_add(exact_add(s[w], s[w]), small));
    to[w] = exact_mul(exact_add(f[w], -g[w]), force);
  });
}

/// A job of base/sums.hpp: sums, for each state i of each process, the terms of the pairs with states j above
/// i.
template <class T>
struct StateSums {
  static constexpr int sums = 1;
  const T *rates, *p;
  double* sum;
  std::int64_t n;

  struct Terms {
    const T *rates, *p;  ///< those of one process
    std::int64_t n, i, count;
    KOLMO_HD double flux(std::int64_t from, std::int64_t to) const {
      const auto w = double(rates[from * n + to]);
      return p ? exact_mul(double(p[from]), w) : w;
    }
    KOLMO_HD Sums<1> operator()(std::int64_t j) const {
      if (j <= i) return {{0}};
      const double f[] = {flux(i, j)}, g[] = {flux(j, i)};
      if (!(is_moderate(f[0]) && is_moderate(g[0]))) return {{flux_term_of_any(f[0], g[0])}};
      double term[1];
      flux_terms(f, g, term);
      return {{term[0]}};
    }
  };
  KOLMO_HD Terms terms(std::int64_t item) const {
    const std::int64_t process = quotient(item, n);
    return {rates + process * n * n, p ? p + process * n : nullptr, n, item - process * n, n};
  }
  KOLMO_HD void finish(std::int64_t item, const Sums<1>& s) const { sum[item] = s.value[0]; }
};

struct ProductionOfProcess {
  double* production;
  Status status;
  KOLMO_HD void operator()(std::int64_t process, const Sums<1>& s) const {
    if (s.value[0] != s.value[0]) status.report(0, process);
    production[process] = one_nan(s.value[0]);
  }
};

/// The workspace: the sum of each state, and partial sums of these.
struct FluxScratch {
  std::int64_t processes, n;
  double* states;
  Sums<1>* partial;

  FluxScratch(Arena& arena, const EntropyProductionArgs& a)
      : processes(a.production.size()),
        n(a.rates.dim(-1)),
        states(arena.take<double>(processes * n)),
        partial(take_partial_sums<1>(arena, processes, n)) {}
};

/// Computes the operator; `run` is the argument of sum_rows.
template <class Run>
void produce_entropy(const EntropyProductionArgs& a, Arena& arena, const Status& status, const Run& run) {
  const FluxScratch s(arena, a);
  visit<double, float>(a.rates.dtype, [&]<class T> {
    run(StateSums<T>{a.rates.as<T>(), a.p.as<T>(), s.states, s.n}, s.processes * s.n, s.n);
  });
  sum_rows<1>(ValueRows<double>{s.states, s.n}, ProductionOfProcess{a.production.as<double>(), status},
              s.processes, s.n, s.partial, run);
}

}  // namespace kolmo
