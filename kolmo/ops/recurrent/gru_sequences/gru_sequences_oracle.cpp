#include <algorithm>
#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/recurrent/gru_sequences/gru_sequences.hpp"

namespace kolmo::check {
namespace {
using Vector = std::vector<long double>;

long double sigmoid_of(long double x) { return (1 + std::tanh(x / 2)) / 2; }

/// A GRU in long double. `member` says where in the tensors its weights begin.
struct Unrolled {
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;
  std::int64_t n, k, member = 0;
  bool before;
  DType dtype = DType::f64;

  long double rounded(long double v) const {
    if (dtype == DType::f16) return static_cast<long double>(float(Half(float(v))));
    if (dtype == DType::bf16) return static_cast<long double>(float(BFloat16(float(v))));
    return v;
  }
  long double of_input(std::int64_t row, const Vector& x) const {
    const std::int64_t g = member * 3 * n + row;
    long double sum = bias_ih.given() ? get(bias_ih, g) : 0;
    for (std::int64_t j = 0; j < k; ++j) sum += get(weight_ih, g * k + j) * x[std::size_t(j)];
    return sum;
  }
  long double of_state(std::int64_t row, const Vector& h) const {
    const std::int64_t g = member * 3 * n + row;
    long double sum = bias_hh.given() ? get(bias_hh, g) : 0;
    for (std::int64_t j = 0; j < n; ++j) sum += get(weight_hh, g * n + j) * h[std::size_t(j)];
    return sum;
  }
  Vector step(const Vector& x, const Vector& h) const {
    Vector r(h), reset(h), next(h);
    for (std::int64_t i = 0; i < n; ++i) {
      r[std::size_t(i)] = sigmoid_of(of_input(i, x) + of_state(i, h));
      reset[std::size_t(i)] = rounded(r[std::size_t(i)] * h[std::size_t(i)]);
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const long double z = sigmoid_of(of_input(n + i, x) + of_state(n + i, h));
      const long double part =
          before ? of_state(2 * n + i, reset) : r[std::size_t(i)] * of_state(2 * n + i, h);
      next[std::size_t(i)] =
          rounded((1 - z) * std::tanh(of_input(2 * n + i, x) + part) + z * h[std::size_t(i)]);
    }
    return next;
  }
};

Vector elements(const Tensor& t, std::int64_t first, std::int64_t count) {
  Vector v;
  for (std::int64_t i = 0; i < count; ++i) v.push_back(get(t, first + i));
  return v;
}

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

void expect_rollout(const RssmRolloutArgs& a) {
  const std::int64_t n = a.h.dim(-1), members = a.h.dim(-2), k = a.features.dim(-1),
                     batch = a.features.size() / k, c = a.head_stochastic.dim(0), steps = a.steps;
  for (std::int64_t b = 0; b < batch; ++b) {
    std::vector<Vector> losses;
    for (std::int64_t m = 0; m < members; ++m) {
      const std::int64_t row = b * members + m;
      const Unrolled gru{a.weight_ih, a.weight_hh, a.bias_ih, a.bias_hh,
                         n,           k,           m,         a.reset == GruReset::before};
      Vector x = elements(a.features, b * k, k), h = elements(a.h, row * n, n), loss{x[0]};
      for (std::int64_t t = 0; t < steps; ++t) {
        h = gru.step(x, h);
        long double total = 0, sum = 0, squares = 0, entropy = 0;
        Vector p;
        for (std::int64_t i = 0; i < c; ++i) {
          p.push_back(std::exp(h[std::size_t(i * n / c)]));
          total += p.back();
        }
        for (std::int64_t i = 0; i < c; ++i) {
          const long double share = p[std::size_t(i)] / total;
          sum += share * get(a.head_stochastic, i), entropy -= share * std::log(share);
        }
        for (std::int64_t i = 0; i < n; ++i) {
          sum += h[std::size_t(i)] * get(a.head_hidden, i);
          squares += h[std::size_t(i)] * h[std::size_t(i)];
        }
        x[0] = std::exp(std::clamp(sum, -10.0L, 10.0L));
        put(a.loss, row * steps + t, x[0]);
        put(a.step_deltas, row * steps + t, std::abs(x[0] - loss.back()));
        put(a.hidden_norms, row * steps + t, std::sqrt(squares)), put(a.entropy, row * steps + t, entropy);
        loss.push_back(x[0]);
      }
      long double mean = 0, variance = 0, turns = 0;
      for (const long double l : loss) mean += l / static_cast<long double>(loss.size());
      for (const long double l : loss) variance += (l - mean) * (l - mean);
      for (std::size_t t = 1; t + 1 < loss.size(); ++t)
        turns += std::abs(loss[t + 1] - 2 * loss[t] + loss[t - 1]);
      put(a.variance, row, variance / static_cast<long double>(loss.size()));
      put(a.smoothness, row, steps > 1 ? turns / static_cast<long double>(steps - 1) : 0);
      for (std::int64_t i = 0; a.last.given() && i < n; ++i) put(a.last, row * n + i, h[std::size_t(i)]);
      losses.push_back(loss);
    }
    for (std::int64_t t = 0; t < steps; ++t) {
      long double mean = 0, spread = 0;
      for (const Vector& l : losses) mean += l[std::size_t(t + 1)] / static_cast<long double>(members);
      for (const Vector& l : losses)
        spread += (l[std::size_t(t + 1)] - mean) * (l[std::size_t(t + 1)] - mean);
      put(a.mean, b * steps + t, mean),
          put(a.spread, b * steps + t, spread / static_cast<long double>(members));
    }
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

/// A rollout of members that have one unit, one feature, and recurrent weights of 0.
struct OneUnit {
  double features = 1, h[2] = {0.5, -0.5}, ih[6] = {}, hh[6] = {}, a = 1, b[2] = {};
  double loss[6], deltas[6], norms[6], entropy[6], variance[2], smoothness[2], mean[3], spread[3];

  RssmRolloutArgs args() {
    return {.features = tensor(&features, {1}),
            .h = tensor(h, {2, 1}),
            .weight_ih = tensor(ih, {2, 3, 1}),
            .weight_hh = tensor(hh, {2, 3, 1}),
            .head_hidden = tensor(&a, {1}),
            .head_stochastic = tensor(b, {2}),
            .loss = tensor(loss, {2, 3}),
            .step_deltas = tensor(deltas, {2, 3}),
            .hidden_norms = tensor(norms, {2, 3}),
            .entropy = tensor(entropy, {2, 3}),
            .variance = tensor(variance, {2}),
            .smoothness = tensor(smoothness, {2}),
            .mean = tensor(mean, {3}),
            .spread = tensor(spread, {3}),
            .steps = 3};
  }
};
constexpr Fact rollout_facts[] = {
    {"weights of zero, by hand: h halves, L = exp(h), two equal categories have an entropy of ln 2",
     [](Stream& s) {
       OneUnit o;
       call(rssm_rollout, o.args(), s);
       const double l[] = {1, std::exp(0.25), std::exp(0.125), std::exp(0.0625)};
       double mean = 0, squares = 0;
       for (int t = 0; t < 3; ++t) {
         expect_near(o.loss[t], l[t + 1], 1e-15, "loss");
         expect_near(o.loss[3 + t], 1 / l[t + 1], 1e-15, "loss of the other member");
         expect_near(o.deltas[t], std::abs(l[t + 1] - l[t]), 1e-15, "delta");
         expect_near(o.norms[3 + t], std::ldexp(0.25, -t), 1e-15, "norm");
         expect_near(o.entropy[t], std::log(2.0), 1e-15, "entropy");
         expect_near(o.mean[t], (l[t + 1] + 1 / l[t + 1]) / 2, 1e-15, "mean");
         expect_near(o.spread[t], std::pow((l[t + 1] - 1 / l[t + 1]) / 2, 2), 1e-15, "spread");
       }
       for (const double x : l) mean += x / 4;
       for (const double x : l) squares += (x - mean) * (x - mean) / 4;
       expect_near(o.variance[0], squares, 1e-15, "variance");
       expect_near(o.smoothness[0], (std::abs(l[2] - 2 * l[1] + l[0]) + std::abs(l[3] - 2 * l[2] + l[1])) / 2,
                   1e-15, "smoothness");
     }},
    {"the predicted loss is fed back: h = tanh(w L) when z = 0",
     [](Stream& s) {
       OneUnit o;
       double bias[6] = {0, -800, 0, 0, -800, 0};
       o.ih[2] = 0.5, o.ih[5] = -0.25;
       RssmRolloutArgs a = o.args();
       a.bias_ih = tensor(bias, {2, 3});
       call(rssm_rollout, a, s);
       double l = 1;
       for (int t = 0; t < 3; ++t) {
         l = std::exp(std::tanh(0.5 * l));
         expect_near(o.loss[t], l, 1e-14, "loss");
       }
       expect_near(o.loss[3], std::exp(std::tanh(-0.25)), 1e-14, "loss of the other member");
     }},
    {"losses stay within e^-10 and e^10, categories that differ by 1000 do no harm",
     [](Stream& s) {
       OneUnit o;
       o.h[0] = 1e3, o.h[1] = -1e3;
       call(rssm_rollout, o.args(), s);
       expect_near(o.loss[0], std::exp(10.0), 1e-12, "largest"),
           expect_near(o.loss[3], std::exp(-10.0), 1e-16, "least");
       expect_near(o.entropy[3], std::log(2.0), 1e-15, "entropy");
     }},
    {"no member, and no feature that would be the loss, are refused",
     [](Stream& s) {
       OneUnit o;
       RssmRolloutArgs a = o.args();
       a.features = tensor(o.ih, {0}), a.weight_ih = tensor(o.ih, {2, 3, 0});
       expect_invalid([&] { call(rssm_rollout, a, s); }, "rssm_rollout: features is empty");
     }},
};

}  // namespace

extern constinit const Oracle<GruForwardArgs> gru_forward_oracle{gru_forward, expect_forward, forward_facts};
extern constinit const Oracle<RssmRolloutArgs> rssm_rollout_oracle{rssm_rollout, expect_rollout,
                                                                   rollout_facts};

}  // namespace kolmo::check
