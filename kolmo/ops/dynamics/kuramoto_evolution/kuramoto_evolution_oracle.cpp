#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/op/define.hpp"
#include "kolmo/ops/dynamics/kuramoto_evolution/kuramoto_evolution.hpp"

namespace kolmo::check {
namespace {
using A = KuramotoEvolutionArgs;
using Row = std::vector<long double>;

/// Returns the weights of all pairs as a dense matrix; an empty one for many oscillators that are all coupled
/// alike.
Row matrix(const A& a, std::int64_t n) {
  if (n > 1000 && !a.adjacency.given() && !a.offsets.given()) return {};
  Row m(std::size_t(n * n), a.adjacency.given() || a.offsets.given() ? 0 : 1);
  for (std::int64_t i = 0; i < n; ++i) {
    if (a.adjacency.given())
      for (std::int64_t j = 0; j < n; ++j) m[std::size_t(i * n + j)] = get(a.adjacency, i * n + j);
    if (a.offsets.given())
      for (auto e = std::int64_t(get(a.offsets, i)); e < std::int64_t(get(a.offsets, i + 1)); ++e)
        m[std::size_t(i * n + std::int64_t(get(a.columns, e)))] += get(a.values, e);
  }
  return m;
}

void expected(const A& a) {
  const std::int64_t n = a.theta.dim(-1);
  const Row m = matrix(a, n);
  for (std::int64_t b = 0; b < a.theta.size() / n; ++b) {
    Row theta;
    for (std::int64_t i = 0; i < n; ++i) theta.push_back(get(a.theta, b * n + i));
    const auto slope = [&](const Row& at) {
      Row d;
      std::complex<long double> all = 0;
      for (const long double x : at) all += std::polar(1.0L, x);
      for (std::int64_t i = 0; i < n; ++i) {
        long double sum = 0;
        for (std::int64_t j = 0; j < n && !m.empty(); ++j)
          if (m[std::size_t(i * n + j)] != 0)
            sum += m[std::size_t(i * n + j)] * std::sin(at[std::size_t(j)] - at[std::size_t(i)]);
        if (m.empty()) sum = std::imag(all * std::polar(1.0L, -at[std::size_t(i)]));
        d.push_back(get(a.omega, b * n + i) + a.strength / static_cast<long double>(n) * sum);
      }
      return d;
    };
    const auto moved = [&](Row at, const Row& d, long double h) {
      for (std::size_t i = 0; i < at.size(); ++i) at[i] += h * d[i];
      return at;
    };
    const long double h = a.dt;
    for (std::int64_t step = 0; step < a.steps; ++step) {
      const Row k1 = slope(theta);
      if (a.method == Integrator::euler) {
        theta = moved(theta, k1, h);
        continue;
      }
      const Row k2 = slope(moved(theta, k1, h / 2)), k3 = slope(moved(theta, k2, h / 2)),
                k4 = slope(moved(theta, k3, h));
      theta = moved(moved(moved(moved(theta, k1, h / 6), k2, h / 3), k3, h / 3), k4, h / 6);
    }
    for (std::int64_t i = 0; i < n; ++i) put(a.result, b * n + i, theta[std::size_t(i)]);
  }
}

std::vector<double> evolved(std::vector<double> theta, std::vector<double> omega, A a, Stream& s) {
  const auto n = std::int64_t(theta.size());
  a.theta = a.result = tensor(theta.data(), {n}), a.omega = tensor(omega.data(), {n});
  call(kuramoto_evolution, a, s);
  return theta;
}

constexpr Fact facts[] = {
    {"without coupling every phase moves by omega t",
     [](Stream& s) {
       const auto x = evolved({1, 2, 3}, {0.5, -1, 4}, {.strength = 0, .dt = 0.25, .steps = 8}, s);
       expect_near(x[0], 2, 1e-14, "0"), expect_near(x[1], 0, 1e-14, "1"), expect_near(x[2], 11, 1e-14, "2");
     }},
    {"two equal oscillators: tan(phi / 2) decays by e^(-K t)",
     [](Stream& s) {
       const auto x = evolved({0, 2}, {0, 0}, {.strength = 1.5, .dt = 0.01, .steps = 100}, s);
       expect_near(std::tan((x[1] - x[0]) / 2), std::tan(1.0) * std::exp(-1.5), 1e-9, "difference");
       expect_near(x[0] + x[1], 2, 1e-14, "sum");
     }},
    {"two different ones lock at sin(phi) = (omega_2 - omega_1) / K",
     [](Stream& s) {
       const auto x = evolved({0, 0}, {-0.3, 0.3}, {.strength = 1, .dt = 0.1, .steps = 500}, s);
       expect_near(std::sin(x[1] - x[0]), 0.6, 1e-12, "locked phase");
     }},
    {"all pairs, a matrix of ones and its sparse form agree; Euler's step by hand",
     [](Stream& s) {
       double ones[9], theta = std::acos(-1.0) / 2;
       std::int64_t offsets[] = {0, 3, 6, 9}, columns[] = {0, 1, 2, 2, 0, 1, 1, 0, 2};
       std::fill_n(ones, 9, 1);
       A a{.strength = 3, .dt = 0.5, .method = Integrator::euler};
       const auto x = evolved({0, theta, 0}, {0, 0, 1}, a, s);
       expect_near(x[0], 0.5, 1e-15, "0"), expect_near(x[1], theta - 1, 1e-15, "1"),
           expect_near(x[2], 1, 1e-15, "2");
       a.adjacency = tensor(ones, {3, 3});
       const auto dense = evolved({0, theta, 0}, {0, 0, 1}, a, s);
       a.adjacency = {}, a.values = tensor(ones, {9}), a.offsets = tensor(offsets, {4}),
       a.columns = tensor(columns, {9});
       const auto sparse = evolved({0, theta, 0}, {0, 0, 1}, a, s);
       for (std::size_t i = 0; i < 3; ++i)
         expect(std::abs(dense[i] - x[i]) < 1e-15 && std::abs(sparse[i] - x[i]) < 1e-15, "not the same");
       columns[4] = 3;
       expect_invalid(
           [&] {
             evolved({0, 0, 0}, {0, 0, 1}, a, s);
           },
           "kuramoto_evolution: columns names a column that does not exist");
       columns[4] = 0, offsets[1] = 7;
       expect_invalid([&] { evolved({0, 0, 0}, {0, 0, 1}, a, s); }, "the offsets of a row do not ascend");
       a.columns = {};
       expect_invalid([&] { evolved({0, 0, 0}, {0, 0, 1}, a, s); }, "needs offsets, columns and values");
     }},
    {"all to all costs O(N) a step",
     [](Stream&) {
       double none = 0;
       const auto flops = [&](std::int64_t n) {
         const A a{.theta = tensor(&none, {n})};
         return static_cast<const OpBase&>(kuramoto_evolution).flops(&a);
       };
       expect(flops(2000) == 2 * flops(1000), "operations");
     }},
};

}  // namespace

extern constinit const Oracle<A> kuramoto_evolution_oracle{kuramoto_evolution, expected, facts};

}  // namespace kolmo::check
