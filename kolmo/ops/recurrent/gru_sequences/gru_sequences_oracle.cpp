#include <algorithm>
#include <cmath>

#include "kolmo/ops/recurrent/gru_sequences/gru_sequences.hpp"
#include "kolmo/ops/recurrent/gru_sequences/unrolled_oracle.hpp"

namespace kolmo::check {
namespace {

void expect_forward(const GruForwardArgs& a, DType dtype) {
  const std::int64_t n = a.h.dim(-1), k = a.x.dim(-1), steps = a.x.dim(-2);
  const Unrolled gru{a.weight_ih, a.weight_hh, a.bias_ih, a.bias_hh, n, k, 0, a.reset == GruReset::before,
                     dtype};
  for (std::int64_t b = 0; b < a.h.size() / n; ++b) {
    Vector h = elements(a.h, b * n, n);
    for (std::int64_t t = 0; t < steps; ++t) {
      h = gru.step(elements(a.x, (b * steps + t) * k, k), h);
      for (std::int64_t i = 0; i < n; ++i) put(a.states, (b * steps + t) * n + i, h[std::size_t(i)]);
    }
    for (std::int64_t i = 0; a.last.given() && i < n; ++i) put(a.last, b * n + i, h[std::size_t(i)]);
  }
}

constexpr Fact forward_facts[] = {
    {"weights of zero: the state decays by 1/2 a step, in both forms",
     [](Stream& s) {
       for (const GruReset reset : {GruReset::after, GruReset::before}) {
         float x[3] = {5, 6, 7}, h[] = {1, -3}, ih[6] = {}, hh[12] = {}, states[6], last[2];
         call(gru_forward,
              {.x = tensor(x, {3, 1}),
               .h = tensor(h, {2}),
               .weight_ih = tensor(ih, {6, 1}),
               .weight_hh = tensor(hh, {6, 2}),
               .states = tensor(states, {3, 2}),
               .last = tensor(last, {2}),
               .reset = reset},
              s);
         expect(states[0] == 0.5f && states[3] == -0.75f && states[4] == 0.125f, "no decay");
         expect(last[0] == states[4] && last[1] == states[5], "last is not the last state");
       }
     }},
    {"the steps of gru_cell, in both forms",
     [](Stream& s) {
       constexpr std::int64_t n = 3, k = 2, steps = 4;
       double x[steps * k], h[n] = {0.3, -0.2, 0.9}, ih[3 * n * k], hh[3 * n * n], bias[3 * n],
                            states[steps * n], state[n];
       const auto fill = [](double* v, std::int64_t count, double pace) {
         for (std::int64_t i = 0; i < count; ++i) v[i] = std::sin(pace * double(i + 1));
       };
       fill(x, steps * k, 1.1), fill(ih, 3 * n * k, 2.3), fill(hh, 3 * n * n, 0.7), fill(bias, 3 * n, 5);
       for (const GruReset reset : {GruReset::after, GruReset::before}) {
         call(gru_forward,
              {.x = tensor(x, {steps, k}),
               .h = tensor(h, {n}),
               .weight_ih = tensor(ih, {3 * n, k}),
               .weight_hh = tensor(hh, {3 * n, n}),
               .bias_ih = tensor(bias, {3 * n}),
               .bias_hh = tensor(bias, {3 * n}),
               .states = tensor(states, {steps, n}),
               .reset = reset},
              s);
         std::copy_n(h, n, state);
         for (std::int64_t t = 0; t < steps; ++t) {
           call(gru_cell,
                {.x = tensor(x + t * k, {k}),
                 .h = tensor(state, {n}),
                 .weight_ih = tensor(ih, {3 * n, k}),
                 .weight_hh = tensor(hh, {3 * n, n}),
                 .bias_ih = tensor(bias, {3 * n}),
                 .bias_hh = tensor(bias, {3 * n}),
                 .h_next = tensor(state, {n}),
                 .reset = reset},
                s);
           for (std::int64_t i = 0; i < n; ++i) expect_near(states[t * n + i], state[i], 1e-14, "state");
         }
       }
     }},
    {"no step at all: the state is what it was",
     [](Stream& s) {
       double h[] = {0.25, 7}, w[12] = {}, last[2];
       call(gru_forward,
            {.x = tensor(w, {0, 1}),
             .h = tensor(h, {2}),
             .weight_ih = tensor(w, {6, 1}),
             .weight_hh = tensor(w, {6, 2}),
             .states = tensor(last, {0, 2}),
             .last = tensor(last, {2})},
            s);
       expect(last[0] == 0.25 && last[1] == 7, "the state has changed");
     }},
    {"weights of another number of gates are refused",
     [](Stream& s) {
       double x[1] = {}, h[1] = {}, w[4] = {};
       expect_invalid(
           [&] {
             call(gru_forward,
                  {.x = tensor(x, {1, 1}),
                   .h = tensor(h, {1}),
                   .weight_ih = tensor(w, {4, 1}),
                   .weight_hh = tensor(w, {4, 1}),
                   .states = tensor(h, {1, 1})},
                  s);
           },
           "gru_forward: weight_ih has 4 rows, but 1 units need 3");
     }},
};

}  // namespace

extern constinit const Oracle<GruForwardArgs> gru_forward_oracle{gru_forward, expect_forward, forward_facts};

}  // namespace kolmo::check
