#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/recurrent/recurrent_cells/recurrent_cells.hpp"

namespace kolmo::check {
namespace {

long double logistic_function(long double x) { return (1 + std::tanh(x / 2)) / 2; }

/// Computes bias_row + sum_j weights_(row, j) v_j for row b of the batch; `factor` multiplies each v_j.
long double affine(const Tensor& weights, const Tensor& bias, std::int64_t row, const Tensor& v,
                   std::int64_t b, const std::vector<long double>& factor = {}) {
  const std::int64_t k = weights.dim(1);
  long double sum = bias.given() ? get(bias, row) : 0;
  for (std::int64_t j = 0; j < k; ++j)
    sum += get(weights, row * k + j) * get(v, b * k + j) * (factor.empty() ? 1 : factor[std::size_t(j)]);
  return sum;
}

void expect_lstm(const LstmCellArgs& a) {
  const std::int64_t n = a.h.dim(-1);
  for (std::int64_t at = 0; at < a.h.size(); ++at) {
    const auto gate = [&](std::int64_t g) {
      return affine(a.weight_ih, a.bias_ih, g * n + at % n, a.x, at / n) +
             affine(a.weight_hh, a.bias_hh, g * n + at % n, a.h, at / n);
    };
    const long double c =
        logistic_function(gate(1)) * get(a.c, at) + logistic_function(gate(0)) * std::tanh(gate(2));
    put(a.c_next, at, c), put(a.h_next, at, logistic_function(gate(3)) * std::tanh(c));
  }
}

void expect_gru(const GruCellArgs& a) {
  const std::int64_t n = a.h.dim(-1);
  for (std::int64_t b = 0; b < a.h.size() / n; ++b) {
    const auto u = [&](std::int64_t row) { return affine(a.weight_ih, a.bias_ih, row, a.x, b); };
    const auto v = [&](std::int64_t row) { return affine(a.weight_hh, a.bias_hh, row, a.h, b); };
    std::vector<long double> r;
    for (std::int64_t i = 0; i < n; ++i) r.push_back(logistic_function(u(i) + v(i)));
    for (std::int64_t i = 0; i < n; ++i) {
      const long double z = logistic_function(u(n + i) + v(n + i));
      const long double part = a.reset == GruReset::after
                                   ? r[std::size_t(i)] * v(2 * n + i)
                                   : affine(a.weight_hh, a.bias_hh, 2 * n + i, a.h, b, r);
      put(a.h_next, b * n + i, (1 - z) * std::tanh(u(2 * n + i) + part) + z * get(a.h, b * n + i));
    }
  }
}

constexpr Fact lstm_facts[] = {
    {"open gates by hand: c' = c + tanh(1), h' = tanh(c')",
     [](Stream& s) {
       double x = 1, h = 0, c = 0.5, ih[] = {0, 0, 1, 0}, hh[4] = {}, bias[] = {50, 50, 0, 50};
       call(lstm_cell,
            {.x = tensor(&x, {1}),
             .h = tensor(&h, {1}),
             .c = tensor(&c, {1}),
             .weight_ih = tensor(ih, {4, 1}),
             .weight_hh = tensor(hh, {4, 1}),
             .bias_ih = tensor(bias, {4}),
             .h_next = tensor(&h, {1}),
             .c_next = tensor(&c, {1})},
            s);
       expect_near(c, 0.5 + std::tanh(1.0), 1e-15, "c"), expect_near(h, std::tanh(c), 1e-15, "h");
     }},
    {"weights of zero: every gate is 1/2",
     [](Stream& s) {
       double x[2] = {7, 8}, h[] = {3}, c[] = {0.6}, ih[8] = {}, hh[4] = {};
       call(lstm_cell,
            {.x = tensor(x, {2}),
             .h = tensor(h, {1}),
             .c = tensor(c, {1}),
             .weight_ih = tensor(ih, {4, 2}),
             .weight_hh = tensor(hh, {4, 1}),
             .h_next = tensor(h, {1}),
             .c_next = tensor(c, {1})},
            s);
       expect_near(c[0], 0.3, 1e-15, "c"), expect_near(h[0], std::tanh(0.3) / 2, 1e-15, "h");
     }},
    {"weights of another number of gates are refused",
     [](Stream& s) {
       double x[1] = {}, h[1] = {}, c[1] = {}, w[3] = {};
       expect_invalid(
           [&] {
             call(lstm_cell,
                  {.x = tensor(x, {1}),
                   .h = tensor(h, {1}),
                   .c = tensor(c, {1}),
                   .weight_ih = tensor(w, {3, 1}),
                   .weight_hh = tensor(w, {3, 1}),
                   .h_next = tensor(h, {1}),
                   .c_next = tensor(c, {1})},
                  s);
           },
           "lstm_cell: weight_ih has 3 rows, but 1 units need 4");
     }},
};
constexpr Fact gru_facts[] = {
    {"weights of zero: the state decays by 1/2, in both forms",
     [](Stream& s) {
       for (const GruReset reset : {GruReset::after, GruReset::before}) {
         float x[] = {5}, h[] = {1, -3}, ih[6] = {}, hh[12] = {};
         for (int t = 0; t < 3; ++t)
           call(gru_cell,
                {.x = tensor(x, {1}),
                 .h = tensor(h, {2}),
                 .weight_ih = tensor(ih, {6, 1}),
                 .weight_hh = tensor(hh, {6, 2}),
                 .h_next = tensor(h, {2}),
                 .reset = reset},
                s);
         expect(h[0] == 0.125f && h[1] == -0.375f, "no decay");
       }
     }},
    {"the bias of n is inside the reset after, and outside it before",
     [](Stream& s) {
       const auto next = [&](GruReset reset) {
         double x = 0, h = 0.5, ih[3] = {}, hh[] = {0, 0, 2}, bias[] = {0, -50, 1};
         call(gru_cell,
              {.x = tensor(&x, {1}),
               .h = tensor(&h, {1}),
               .weight_ih = tensor(ih, {3, 1}),
               .weight_hh = tensor(hh, {3, 1}),
               .bias_hh = tensor(bias, {3}),
               .h_next = tensor(&h, {1}),
               .reset = reset},
              s);
         return h;
       };
       expect_near(next(GruReset::after), std::tanh(0.5 * (2 * 0.5 + 1)), 1e-15, "after");
       expect_near(next(GruReset::before), std::tanh(2 * 0.5 * 0.5 + 1), 1e-15, "before");
     }},
};

}  // namespace

extern constinit const Oracle<LstmCellArgs> lstm_cell_oracle{lstm_cell, expect_lstm, lstm_facts};
extern constinit const Oracle<GruCellArgs> gru_cell_oracle{gru_cell, expect_gru, gru_facts};

}  // namespace kolmo::check
