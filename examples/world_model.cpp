// A world model of trainings: from 64 losses of a training an ensemble imagines the next 64 by itself.
#include <cmath>

#include "examples/ridge.hpp"
#include "kolmo/ops/nn/state_encode/state_encode.hpp"
#include "kolmo/ops/random/random_normal/random_normal.hpp"
#include "kolmo/ops/random/random_uniform/random_uniform.hpp"
#include "kolmo/ops/recurrent/gru_sequences/gru_sequences.hpp"

using example::Numbers;
constexpr std::int64_t past = 64, ahead = 64, all = past + ahead, k = 64, n = 128, members = 8;

kolmo::Tensor tensor(Numbers& x, std::initializer_list<std::int64_t> shape) {
  return kolmo::tensor(x.data(), shape);
}
Numbers normal(std::int64_t size, std::uint64_t seed, double deviation, kolmo::Stream& stream) {
  Numbers x(static_cast<std::size_t>(size));
  kolmo::random_normal({.values = tensor(x, {size}), .n = size, .seed = seed, .deviation = deviation},
                       stream);
  return x;
}

/// Gradient descent on quadratic functions: mode i has curvature i^-a and begins with a share i^-b of the
/// loss, above a floor of 0.05. Losses are recorded after every fourth step.
struct Trainings {
  std::int64_t count;
  Numbers losses, norms;

  Trainings(std::int64_t number, std::uint64_t seed, kolmo::Stream& stream)
      : count(number), losses(std::size_t(count * all)), norms(std::size_t(count * past)) {
    Numbers u(std::size_t(count * 3));
    kolmo::random_uniform({.values = tensor(u, {count * 3}), .n = count * 3, .seed = seed}, stream);
    for (std::size_t r = 0; r < std::size_t(count); ++r) {
      const double a = 1 + u[3 * r], b = 0.2 + 0.8 * u[3 * r + 1], rate = std::pow(10, -1.5 * u[3 * r + 2]);
      double total = 0;
      for (int i = 1; i <= 200; ++i) total += std::pow(i, -b);
      for (std::size_t t = 0; t < all; ++t) losses[r * all + t] = 0.05;
      for (int i = 1; i <= 200; ++i) {
        const double curvature = std::pow(i, -a), decay = std::pow(1 - rate * curvature, 8);
        double loss = std::pow(i, -b) / total;
        for (std::size_t t = 0; t < all; ++t, loss *= decay) {
          losses[r * all + t] += loss;
          if (t < past) norms[r * past + t] += curvature * loss;
        }
      }
    }
    for (double& norm : norms) norm = std::sqrt(norm);
  }
  /// Features of the states of the trainings after the losses that are known.
  Numbers features(Numbers& center, Numbers& scale, kolmo::Stream& stream) {
    Numbers known, zero(std::size_t(count * 8)), y(std::size_t(count * k));
    for (std::int64_t r = 0; r < count; ++r)
      known.insert(known.end(), &losses[std::size_t(r * all)], &losses[std::size_t(r * all)] + past);
    kolmo::state_encode({.losses = tensor(known, {count, past}),
                         .gradient_norms = tensor(norms, {count, past}),
                         .optimizer = tensor(zero, {count, 7}),
                         .progress = tensor(zero, {count, 4}),
                         .weights = tensor(zero, {count, 6}),
                         .layers = tensor(zero, {count, 8}),
                         .jump = tensor(zero, {count, 3}),
                         .center = tensor(center, {k}),
                         .scale = tensor(scale, {k}),
                         .features = tensor(y, {count, k})},
                        stream);
    return y;
  }
};

int main(int argc, char** argv) {
  kolmo::Stream stream;
  Trainings seen(400, 1, stream), fresh(200, 2, stream);
  Numbers center(k), scale(k, 1);
  const Numbers raw = seen.features(center, scale, stream);
  for (std::size_t c = 1; c < k; ++c) {  // feature 0 is the loss, which is not scaled
    double sum = 0, squares = 0;
    for (std::size_t r = 0; r < 400; ++r) sum += raw[r * k + c], squares += raw[r * k + c] * raw[r * k + c];
    center[c] = sum / 400, scale[c] = std::sqrt(std::max(0., squares / 400 - center[c] * center[c]));
  }
  // A random GRU reads the true losses, with noise. A readout of its states learns the logarithm of the next
  // loss.
  Numbers w_ih = normal(3 * n * k, 3, 0.5 / 8, stream), w_hh = normal(3 * n * n, 4, 1 / std::sqrt(n), stream);
  Numbers bias = normal(3 * n, 5, 0.3, stream), noise = normal(400 * ahead, 6, 0.1, stream);
  for (std::size_t i = n; i < 2 * n; ++i)
    bias[i] *= 10;  // so units keep their state for one step up to hundreds
  Numbers state = seen.features(center, scale, stream), x, next, states(400 * ahead * n),
          h(400 * members * n);
  for (std::size_t r = 0; r < 400; ++r)
    for (std::size_t t = 0; t < ahead; ++t) {
      x.insert(x.end(), &state[r * k], &state[r * k] + k);
      x[x.size() - k] = seen.losses[r * all + past - 1 + t] * std::exp(noise[r * ahead + t]);
      next.push_back(std::log(seen.losses[r * all + past + t]));
    }
  kolmo::gru_forward({.x = tensor(x, {400, ahead, k}),
                      .h = tensor(h, {400, n}),
                      .weight_ih = tensor(w_ih, {3 * n, k}),
                      .weight_hh = tensor(w_hh, {3 * n, n}),
                      .bias_ih = tensor(bias, {3 * n}),
                      .states = tensor(states, {400, ahead, n}),
                      .reset = kolmo::GruReset::before},
                     stream);
  Numbers head = example::ridge(states, next, n, 1, 0.1, stream);

  // Members differ by 5 % in the weights of their memory.
  Numbers all_ih, all_hh, all_bias, all_heads, none(members),
      change = normal(members * 3 * n * n, 7, 0.05, stream);
  for (std::size_t m = 0; m < members; ++m) {
    all_ih.insert(all_ih.end(), w_ih.begin(), w_ih.end());
    all_bias.insert(all_bias.end(), bias.begin(), bias.end());
    all_heads.insert(all_heads.end(), head.begin(), head.end());
    for (const double w : w_hh) all_hh.push_back(w * (1 + change[all_hh.size()]));
  }
  Numbers now = fresh.features(center, scale, stream), start(200 * members * n), mean(200 * ahead),
          spread(200 * ahead);
  Numbers of_member[4], of_all[2];
  for (Numbers& y : of_member) y.resize(200 * members * ahead);
  for (Numbers& y : of_all) y.resize(200 * members);
  kolmo::rssm_rollout({.features = tensor(now, {200, k}),
                       .h = tensor(start, {200, members, n}),
                       .weight_ih = tensor(all_ih, {members, 3 * n, k}),
                       .weight_hh = tensor(all_hh, {members, 3 * n, n}),
                       .head_hidden = tensor(all_heads, {members, n}),
                       .head_stochastic = tensor(none, {members, 1}),
                       .bias_ih = tensor(all_bias, {members, 3 * n}),
                       .loss = tensor(of_member[0], {200, members, ahead}),
                       .step_deltas = tensor(of_member[1], {200, members, ahead}),
                       .hidden_norms = tensor(of_member[2], {200, members, ahead}),
                       .entropy = tensor(of_member[3], {200, members, ahead}),
                       .variance = tensor(of_all[0], {200, members}),
                       .smoothness = tensor(of_all[1], {200, members}),
                       .mean = tensor(mean, {200, ahead}),
                       .spread = tensor(spread, {200, ahead}),
                       .steps = ahead},
                      stream);
  Numbers errors, changes;
  for (std::size_t r = 0; r < 200; ++r) {
    const double end = std::log(fresh.losses[r * all + all - 1]);
    errors.push_back(std::abs(std::log(mean[r * ahead + ahead - 1]) - end));
    changes.push_back(std::log(fresh.losses[r * all + past - 1]) - end);
  }
  std::sort(errors.begin(), errors.end()), std::sort(changes.begin(), changes.end());
  std::printf(
      "after 64 imagined losses: median error %.1f %%, where the loss fell by %.1f %% in the median\n",
      100 * errors[100], 100 * changes[100]);
  example::Plot plot("An ensemble imagines how trainings go on", "loss recorded", "loss", {32, 128},
                     {0, 1.2});
  Numbers before, after;
  for (int t = 32; t < all; ++t) (t < past ? before : after).push_back(t);
  for (std::size_t r = 0; r < 4; ++r) {
    const double *const truth = &fresh.losses[r * all], *const m = &mean[r * ahead];
    Numbers low, high;
    for (std::size_t t = 0; t < ahead; ++t) {
      const double two = 2 * std::sqrt(spread[r * ahead + t]);
      low.push_back(m[t] - two), high.push_back(m[t] + two);
    }
    plot.band(after, low, high, r ? "" : "two deviations of 8 members", "#f5b7b1");
    plot.line(before, {truth + 32, truth + past}, r ? "" : "known", "#333");
    plot.line(after, {truth + past, truth + all}, r ? "" : "what came", "#333", true);
    plot.line(after, {m, m + ahead}, r ? "" : "imagined, mean", "#c0392b");
  }
  plot.save(argc > 1 ? argv[1] : nullptr);
  return errors[100] < 0.1 && errors[100] < changes[100] / 2 ? 0 : 1;
}
