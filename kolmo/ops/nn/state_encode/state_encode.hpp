#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct StateEncodeArgs {
  In losses, gradient_norms, optimizer, progress, weights, layers, jump;
  OptIn center, scale;
  Out features;

  static constexpr auto fields() {
    using A = StateEncodeArgs;
    constexpr Domain positive = Domain::positive;
    return std::array{
        field<&A::losses>("losses", "... w", reals, "latest losses, the newest last; usually 256", positive),
        field<&A::gradient_norms>("gradient_norms", "... v", reals,
                                  "latest norms of the gradient, the newest last; usually 64", positive),
        field<&A::optimizer>("optimizer", "... 7", reals,
                             "mean and deviation of Adam's m, then of v; learning rate, beta_1^t, beta_2^t",
                             positive),
        field<&A::progress>("progress", "... 4", reals,
                            "step, phase 0 to 3, steps in this phase, steps in all", positive),
        field<&A::weights>(
            "weights", "... 6", reals,
            "cosine of the last two gradients; norms of update, weights, and weights less their "
            "average; |m| / |sqrt v|, gradient noise scale"),
        field<&A::layers>("layers", "... 8", reals, "update over weight norm of eight groups of layers",
                          positive),
        field<&A::jump>("jump", "... 3", reals, "last jump: steps and gain; share of jumps accepted",
                        positive),
        field<&A::center>("center", "64", reals, "subtracted from the features"),
        field<&A::scale>("scale", "64", reals,
                         "then divides them, at least 1e-8; the result is kept within 10", positive),
        field<&A::features>("features", "... 64", reals, "features of the state"),
    };
  }
};

/// Names of the features, in order.
inline constexpr std::string_view state_feature_names[64] = {"loss",
                                                             "loss mean",
                                                             "loss deviation",
                                                             "loss least",
                                                             "loss most",
                                                             "loss trend",
                                                             "loss trend ratio",
                                                             "step / 10^4",
                                                             "gradient norm",
                                                             "gradient mean",
                                                             "gradient deviation",
                                                             "gradient least",
                                                             "gradient most",
                                                             "log10 gradient norm",
                                                             "gradient norm / mean",
                                                             "gradient deviation / mean",
                                                             "m mean",
                                                             "m deviation",
                                                             "v mean",
                                                             "v deviation",
                                                             "log10 rate",
                                                             "beta_1^t",
                                                             "beta_2^t",
                                                             "loss score",
                                                             "phase",
                                                             "steps in phase / 100",
                                                             "loss average fast",
                                                             "loss average medium",
                                                             "loss average slow",
                                                             "loss average fast - slow",
                                                             "loss slope 16",
                                                             "loss slope 64",
                                                             "loss slope 256",
                                                             "loss autocorrelation",
                                                             "loss quantile 0.1",
                                                             "loss quantile 0.25",
                                                             "loss quantile 0.5",
                                                             "loss quantile 0.75",
                                                             "loss quantile 0.9",
                                                             "gradient average fast",
                                                             "gradient average medium",
                                                             "gradient average slow",
                                                             "gradient cosine",
                                                             "update norm",
                                                             "weight norm",
                                                             "distance to average weights",
                                                             "m / sqrt v",
                                                             "gradient noise",
                                                             "layers 1",
                                                             "layers 2",
                                                             "layers 3",
                                                             "layers 4",
                                                             "layers 5",
                                                             "layers 6",
                                                             "layers 7",
                                                             "layers 8",
                                                             "budget left",
                                                             "phase 0",
                                                             "phase 1",
                                                             "phase 2",
                                                             "phase 3",
                                                             "jump steps",
                                                             "jump gain",
                                                             "jumps accepted"};

/// 64 features of the state of a training, for models that predict it. Of x, the w losses, and g, the v norms, each
/// from 1 to 4096 with the newest last:
///   0 x  1 mean  2 deviation (population)  3 least  4 most of x
///   5 a - b  6 a / max(b, 1e-8), a the mean of the last 16 x and b of the 16 before; 0 and 1 if w < 32
///   7 step / 10^4  8 g  9 mean  10 deviation  11 least  12 most of g  13 max(log10 g, -10)
///   14 min(g / max(mean, 1e-8), 10)  15 deviation / max(mean, 1e-8)
///   16 .. 19 means and deviations of m and v  20 max(log10 rate, -10)  21 beta_1^t  22 beta_2^t
///   23 (x - mean) / max(deviation, 1e-8) within 10  24 phase  25 steps in phase / 100
///   26, 27, 28 exponential averages of x, which begin with the oldest, of decay 0.75, 0.9375, 0.984375
///   29 the first less the last of these  30, 31, 32 least squares slopes of the last 16, 64, 256 x (0 for one)
///   33 autocorrelation of x at lag 1 (0 for equal x)  34 .. 38 quantiles 0.1, 0.25, 0.5, 0.75, 0.9 of x
///   39, 40, 41 exponential averages of g  42 .. 47 `weights`  48 .. 55 `layers`
///   56 1 - step / steps in all, within 0 and 1  57 .. 60 one for phase 0 .. 3  61 .. 63 `jump`
/// With center and scale each becomes (feature - center) / max(scale, 1e-8) within 10. Leading (batch) dimensions are
/// equal. f64 or f32, computed in double. Same bits from run to run.
/// Quantiles: Hyndman & Fan 1996, type 7.
extern const Op<StateEncodeArgs> state_encode;

}  // namespace kolmo
