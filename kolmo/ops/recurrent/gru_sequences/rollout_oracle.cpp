#include <algorithm>
#include <cmath>

#include "kolmo/ops/random/random_uniform/random_uniform.hpp"
#include "kolmo/ops/recurrent/gru_sequences/gru_sequences.hpp"
#include "kolmo/ops/recurrent/gru_sequences/unrolled_oracle.hpp"

namespace kolmo::check {
namespace {

/// The probabilities of the categories of a state.
Vector softmax_of(const Vector& h, std::int64_t c) {
  Vector p;
  long double total = 0;
  for (std::int64_t i = 0; i < c; ++i) {
    p.push_back(std::exp(h[std::size_t(i * std::int64_t(h.size()) / c)]));
    total += p.back();
  }
  for (long double& share : p) share /= total;
  return p;
}
/// The latent of a state after t steps: its probabilities, or a category drawn with the 53 bits of one of two halves of a
/// Philox block.
Vector latent_of(const RssmRolloutArgs& a, const Vector& p, std::int64_t row, std::int64_t t) {
  if (!a.sample || p.empty()) return p;
  const std::int64_t e = a.offset + row * (a.loss.dim(-1) + 1) + t;
  const Philox::Words words = Philox(a.seed)(std::uint64_t(e) / 2, 0);
  const std::uint64_t high = words.w[e % 2 ? 2 : 0], low = words.w[e % 2 ? 3 : 1];
  long double left = std::ldexp(static_cast<long double>((high << 32 | low) >> 11), -53);
  std::size_t drawn = 0;
  while (drawn + 1 < p.size() && left >= p[drawn]) left -= p[drawn++];
  Vector one(p.size());
  one[drawn] = 1;
  return one;
}
/// Computes the terms that planned inputs and the latent add to the gates of a member at step t.
Vector added_at(const RssmRolloutArgs& a, std::int64_t b, std::int64_t m, std::int64_t t,
                const Vector& latent) {
  const std::int64_t gates = 3 * a.h.dim(-1), c = std::int64_t(latent.size());
  Vector added(static_cast<std::size_t>(gates));
  for (std::int64_t g = 0; g < gates; ++g) {
    if (a.controls.given())
      for (std::int64_t q = a.controls.dim(-1), j = 0; j < q; ++j)
        added[std::size_t(g)] += get(a.weight_controls, (m * gates + g) * q + j) *
                                 get(a.controls, (b * a.loss.dim(-1) + t) * q + j);
    if (a.weight_latent.given())
      for (std::int64_t j = 0; j < c; ++j)
        added[std::size_t(g)] += get(a.weight_latent, (m * gates + g) * c + j) * latent[std::size_t(j)];
  }
  return added;
}

void expect_rollout(const RssmRolloutArgs& a) {
  const std::int64_t n = a.h.dim(-1), members = a.h.dim(-2), k = a.features.dim(-1),
                     batch = a.features.size() / k, c = a.head_stochastic.dim(-1), steps = a.loss.dim(-1);
  for (std::int64_t b = 0; b < batch; ++b) {
    std::vector<Vector> losses;
    for (std::int64_t m = 0; m < members; ++m) {
      const std::int64_t row = b * members + m;
      Unrolled gru{a.weight_ih, a.weight_hh, a.bias_ih, a.bias_hh, n, k, m, a.reset == GruReset::before};
      Vector x = elements(a.features, b * k, k), h = elements(a.h, row * n, n), loss{x[0]};
      for (std::int64_t t = 0; t < steps; ++t) {
        gru.added = added_at(a, b, m, t, latent_of(a, softmax_of(h, c), row, t));
        h = gru.step(x, h);
        long double sum = 0, squares = 0, entropy = 0;
        const Vector p = softmax_of(h, c), latent = latent_of(a, p, row, t + 1);
        for (std::int64_t i = 0; i < c; ++i) {
          sum += latent[std::size_t(i)] * get(a.head_stochastic, m * c + i);
          entropy -= p[std::size_t(i)] * std::log(p[std::size_t(i)]);
        }
        for (std::int64_t i = 0; i < n; ++i) {
          sum += h[std::size_t(i)] * get(a.head_hidden, m * n + i);
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

/// A rollout of members that have one unit, one feature, and recurrent weights of 0.
struct OneUnit {
  double features = 1, h[2] = {0.5, -0.5}, ih[6] = {}, hh[6] = {}, a[2] = {1, 1}, b[4] = {};
  double loss[6], deltas[6], norms[6], entropy[6], variance[2], smoothness[2], mean[3], spread[3];

  RssmRolloutArgs args() {
    return {.features = tensor(&features, {1}),
            .h = tensor(h, {2, 1}),
            .weight_ih = tensor(ih, {2, 3, 1}),
            .weight_hh = tensor(hh, {2, 3, 1}),
            .head_hidden = tensor(a, {2, 1}),
            .head_stochastic = tensor(b, {2, 2}),
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
    {"each member has its own heads",
     [](Stream& s) {
       OneUnit o;
       o.a[1] = -3, o.b[0] = o.b[1] = 0.5, o.b[2] = 1, o.b[3] = 2;
       call(rssm_rollout, o.args(), s);
       expect_near(o.loss[0], std::exp(0.25 + 0.5), 1e-15, "loss");
       expect_near(o.loss[3], std::exp(0.75 + 1.5), 1e-14, "loss of the other member");
     }},
    {"planned inputs by hand: h = tanh(w c) when z = 0, and the latent of one category is a bias",
     [](Stream& s) {
       OneUnit o;
       double bias[6] = {0, -800, 0, 0, -800, 0}, plan[] = {0.5, -1, 2}, w[6] = {0, 0, 1, 0, 0, -2},
              latent[6] = {0, 0, 0.25}, b[2] = {};
       RssmRolloutArgs a = o.args();
       a.bias_ih = tensor(bias, {2, 3}), a.controls = tensor(plan, {3, 1}),
       a.weight_controls = tensor(w, {2, 3, 1});
       a.weight_latent = tensor(latent, {2, 3, 1}), a.head_stochastic = tensor(b, {2, 1});
       for (const bool sample : {false, true}) {
         a.sample = sample;
         call(rssm_rollout, a, s);
         for (int t = 0; t < 3; ++t) {
           expect_near(o.loss[t], std::exp(std::tanh(plan[t] + 0.25)), 1e-14, "loss");
           expect_near(o.loss[3 + t], std::exp(std::tanh(-2 * plan[t])), 1e-14, "loss of the other member");
         }
       }
       a.weight_controls = {};
       expect_invalid([&] { call(rssm_rollout, a, s); },
                      "rssm_rollout: controls and weight_controls must be given together");
     }},
    {"drawn categories invert the distribution function at the elements of random_uniform, and what is drawn "
     "is fed back",
     [](Stream& s) {
       // h = 0 at first, and later tanh(+-w) with z = 0, where w is that of the category drawn before. p is always (1/2, 1/2).
       constexpr std::int64_t rows = 500;
       double u[rows * 3], ih[3] = {}, hh[3] = {}, bias[3] = {0, -800, 0}, latent[6] = {0, 0, 0, 0, 0.5, -1},
                           a = 1, b[2] = {0, 3}, of_rows[rows * 6], of_row[rows * 2], of_batch[rows * 4],
                           of_spread[rows * 2];
       std::vector<double> features(rows, 1), h(rows);
       call(random_uniform, {.values = tensor(u, {rows * 3}), .n = rows * 3, .offset = 11, .seed = 4}, s);
       call(rssm_rollout,
            {.features = tensor(features.data(), {rows, 1}),
             .h = tensor(h.data(), {rows, 1, 1}),
             .weight_ih = tensor(ih, {1, 3, 1}),
             .weight_hh = tensor(hh, {1, 3, 1}),
             .head_hidden = tensor(&a, {1, 1}),
             .head_stochastic = tensor(b, {1, 2}),
             .bias_ih = tensor(bias, {1, 3}),
             .weight_latent = tensor(latent, {1, 3, 2}),
             .loss = tensor(of_rows, {rows, 1, 2}),
             .step_deltas = tensor(of_rows + rows * 2, {rows, 1, 2}),
             .hidden_norms = tensor(of_rows + rows * 4, {rows, 1, 2}),
             .entropy = tensor(of_batch, {rows, 1, 2}),
             .variance = tensor(of_row, {rows, 1}),
             .smoothness = tensor(of_row + rows, {rows, 1}),
             .mean = tensor(of_batch + rows * 2, {rows, 2}),
             .spread = tensor(of_spread, {rows, 2}),
             .steps = 2,
             .offset = 11,
             .sample = true,
             .seed = 4},
            s);
       for (std::int64_t r = 0; r < rows; ++r)
         for (std::int64_t t = 0; t < 2; ++t) {
           const double own = std::tanh(u[r * 3 + t] < 0.5 ? 0.5 : -1), head = u[r * 3 + t + 1] < 0.5 ? 0 : 3;
           expect_near(of_rows[r * 2 + t], std::exp(own + head), 1e-13, "loss");
         }
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

extern constinit const Oracle<RssmRolloutArgs> rssm_rollout_oracle{rssm_rollout, expect_rollout,
                                                                   rollout_facts};

}  // namespace kolmo::check
