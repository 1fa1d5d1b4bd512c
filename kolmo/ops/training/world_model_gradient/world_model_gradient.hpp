#pragma once
#include <optional>

#include "kolmo/op/op.hpp"

namespace kolmo {

struct WorldModelGradientArgs {
  In blocks, planned, trace, first, length, start, parameters;
  Out gradient, loss;
  std::int64_t hidden = 48, window = 48, ahead = 10;
  double closed = 0.6;
  std::optional<double> clip = {};

  static constexpr auto fields() {
    using A = WorldModelGradientArgs;
    constexpr DTypes i64 = DTypes::of(DType::i64);
    return std::array{
        field<&A::blocks>("blocks", "b 8", reals, "inputs of each block: x"),
        field<&A::planned>("planned", "b 3", reals, "what is known of each block before it begins: c"),
        field<&A::trace>(
            "trace", "b 5", reals,
            "logarithm y of the loss after each block, its two averages f and s, anchor e, trend v"),
        field<&A::first>("first", "m w", i64, "first block of each window of each member"),
        field<&A::length>("length", "m w", i64, "number of blocks of a window that there are"),
        field<&A::start>("start", "m", i64, "number of blocks that a member reads before it runs ahead"),
        field<&A::parameters>("parameters", "m p", reals, "parameters of each member, in the order below"),
        field<&A::gradient>("gradient", "m p", reals, "gradient of the mean loss of each member's windows"),
        field<&A::loss>("loss", "m", reals, "that loss"),
        option<&A::hidden>("hidden", 1, 1024, "units n of a member"),
        option<&A::window>("window", 7, 4096, "most blocks of a window"),
        option<&A::ahead>("ahead", 1, 4096, "most blocks that a member predicts from its own predictions"),
        option<&A::closed>("closed", 0, unlimited, "weight of the losses of those blocks")
            .no_matter_for_speed(),
        option<&A::clip>("clip", 0, unlimited,
                         "norm at which the gradient of a member is clipped; none: it is not"),
    };
  }
};

/// Gradient of the loss by which kolmo.predict trains its world model, for m members at once, each with w windows of the b blocks.
/// A member reads blocks t < S = start, from h_0 = 0, and then runs ahead on its own predictions to block E = min(window, S + ahead):
///   (n, r, z, q) = bias + (I x_t for n, r, z) + (R h_t for r, z, q)
///   k = tanh(n + sigmoid(r) q),   h_(t+1) = k + sigmoid(z) (h_t - k)
///   a = A h_t + P c_t + head_bias,   d_t = (out . a sigmoid(a) + out_bias) / 10      for t >= 5
/// The prediction of a block t <= S is e_(t-1) + 0.93 v_(t-1) + d_t. From y = e_(S-1) on, a block t >= S has v <- 0.93 v,
/// y <- y + v + d_t, f <- f + 0.3 (y - f), s <- s + 0.07 (y - s), and its inputs 0 to 3 are y, 10 (v + d_t), 10 (f - y),
/// 5 (s - y), and input 7 that of block S - 1. With the Huber loss H, which turns at 0.05, the loss of a window is
///   sum over 5 <= t <= S of H(prediction - y_t) / S + closed sum over S <= t < E of H(y - y_t)
/// over the blocks that there are (t < length), divided by w. Parameters, in order, with g = 3 n columns: I (8 g: n, r, z),
/// R (n g: r, z, q), bias (4 n), A (n 32), P (3 32), head_bias (32), out (32), out_bias: p = 3 n^2 + 60 n + 161. A gradient above
/// the norm `clip` is multiplied by clip / (norm + 1e-6). f64 or f32, in which all is computed but norms. `start` is clamped to 6 to
/// window - 1, `first` to the blocks, and `length` to those that follow it. Same bits from run to run.
/// Sources: Cho et al., EMNLP 2014; Williams & Peng 1990 (back-propagation through time); Holt 1957; Huber 1964.
extern const Op<WorldModelGradientArgs> world_model_gradient;

}  // namespace kolmo
