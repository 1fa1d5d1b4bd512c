#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/dynamics/reservoir_update/reservoir_update.hpp"

namespace kolmo::check {
namespace {
using A = ReservoirUpdateArgs;

void expected(const A& a) {
  const std::int64_t n = a.state.dim(-1), k = a.input.dim(-1);
  for (std::int64_t b = 0; b < a.next.size() / n; ++b)
    for (std::int64_t i = 0; i < n; ++i) {
      long double sum = a.bias.given() ? get(a.bias, i) : 0;
      for (std::int64_t j = 0; j < k; ++j) sum += get(a.input_weights, i * k + j) * get(a.input, b * k + j);
      for (std::int64_t j = 0; a.weights.given() && j < n; ++j)
        sum += get(a.weights, i * n + j) * get(a.state, b * n + j);
      if (a.offsets.given())
        for (auto e = std::int64_t(get(a.offsets, i)); e < std::int64_t(get(a.offsets, i + 1)); ++e)
          sum += get(a.values, e) * get(a.state, b * n + std::int64_t(get(a.columns, e)));
      put(a.next, b * n + i, (1 - a.leak) * get(a.state, b * n + i) + a.leak * std::tanh(sum));
    }
}

constexpr Fact facts[] = {
    {"two neurons by hand, dense and sparse, also in place",
     [](Stream& s) {
       double u = 2, in[] = {0.5, 0}, w[] = {0, 1, 0.25, 0}, state[] = {0.4, -1}, next[2],
              values[] = {1, 0.25};
       std::int64_t offsets[] = {0, 1, 2}, columns[] = {1, 0};
       A a{.input = tensor(&u, {1}),
           .state = tensor(state, {2}),
           .input_weights = tensor(in, {2, 1}),
           .weights = tensor(w, {2, 2}),
           .next = tensor(next, {2}),
           .leak = 0.25};
       const auto right = [](const double* x) {
         return std::abs(x[0] - 0.3) < 1e-15 && std::abs(x[1] - (0.25 * std::tanh(0.1) - 0.75)) < 1e-15;
       };
       call(reservoir_update, a, s);
       expect(right(next), "dense");
       a.weights = {}, a.offsets = tensor(offsets, {3}), a.columns = tensor(columns, {2});
       a.values = tensor(values, {2}), a.next = a.state;
       call(reservoir_update, a, s);
       expect(right(state), "sparse, in place");
       columns[1] = -1;
       expect_invalid([&] { call(reservoir_update, a, s); },
                      "reservoir_update: columns names a column that does not exist");
       a.weights = tensor(w, {2, 2});
       expect_invalid([&] { call(reservoir_update, a, s); }, "given twice, dense by weights");
     }},
    {"echo state property: with a contraction, states forget how they began",
     [](Stream& s) {
       double w[] = {0.3, -0.4, 0.5, 0.2}, in[] = {1, -1}, x[] = {0.9, -0.9, -0.5, 0.1}, u[2];
       for (int t = 0; t < 60; ++t) {
         u[0] = u[1] = std::sin(0.3 * t);
         call(reservoir_update,
              {.input = tensor(u, {2, 1}),
               .state = tensor(x, {2, 2}),
               .input_weights = tensor(in, {2, 1}),
               .weights = tensor(w, {2, 2}),
               .next = tensor(x, {2, 2}),
               .leak = 0.8},
              s);
       }
       expect(std::abs(x[0] - x[2]) < 1e-12 && std::abs(x[1] - x[3]) < 1e-12, "the beginning is remembered");
     }},
};

}  // namespace

extern constinit const Oracle<A> reservoir_update_oracle{reservoir_update, expected, facts};

}  // namespace kolmo::check
