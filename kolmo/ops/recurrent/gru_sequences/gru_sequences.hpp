#pragma once
#include "kolmo/op/op.hpp"
#include "kolmo/ops/recurrent/recurrent_cells/recurrent_cells.hpp"

namespace kolmo {

struct GruForwardArgs {
  In x, h, weight_ih, weight_hh;
  OptIn bias_ih, bias_hh;
  Out states;
  OptOut last;
  GruReset reset = GruReset::after;

  static constexpr auto fields() {
    using A = GruForwardArgs;
    return std::array{
        field<&A::x>("x", "... t k", floats, "inputs of t steps"),
        field<&A::h>("h", "... n", floats, "hidden state before the first step"),
        field<&A::weight_ih>("weight_ih", "g k", floats, "weights of x; g = 3 n, rows of r, z, n"),
        field<&A::weight_hh>("weight_hh", "g n", floats, "weights of h, in the same order"),
        field<&A::bias_ih>("bias_ih", "g", floats, "added to the part of x"),
        field<&A::bias_hh>("bias_hh", "g", floats, "added to the part of h"),
        field<&A::states>("states", "... t n", floats, "hidden state after each step"),
        field<&A::last>("last", "... n", floats, "hidden state after the last step"),
        option<&A::reset>("reset", "r multiplies the part of h after its matrix product, or h before it"),
    };
  }
};

struct RssmRolloutArgs {
  In features, h, weight_ih, weight_hh, head_hidden, head_stochastic;
  OptIn bias_ih, bias_hh, controls, weight_controls, weight_latent;
  Out loss, step_deltas, hidden_norms, entropy, variance, smoothness, mean, spread;
  OptOut last;
  std::int64_t steps = 10, offset = 0;
  GruReset reset = GruReset::before;
  bool sample = false;
  std::uint64_t seed = 0;

  static constexpr auto fields() {
    using A = RssmRolloutArgs;
    return std::array{
        field<&A::features>("features", "... k", reals, "state of a training; the first is its loss L_0"),
        field<&A::h>("h", "... m n", reals, "hidden state of each of m members"),
        field<&A::weight_ih>("weight_ih", "m g k", reals, "weights of features; g = 3 n, rows of r, z, n"),
        field<&A::weight_hh>("weight_hh", "m g n", reals, "weights of h, in the same order"),
        field<&A::head_hidden>("head_hidden", "m n", reals, "a, weights of h in the predicted loss"),
        field<&A::head_stochastic>("head_stochastic", "m c", reals, "b, weights of the c categories"),
        field<&A::bias_ih>("bias_ih", "m g", reals, "added to the part of features"),
        field<&A::bias_hh>("bias_hh", "m g", reals, "added to the part of h"),
        field<&A::controls>("controls", "... steps q", reals,
                            "q planned inputs of each step, such as rates; they need weight_controls"),
        field<&A::weight_controls>("weight_controls", "m g q", reals, "weights of the planned inputs"),
        field<&A::weight_latent>("weight_latent", "m g c", reals,
                                 "weights of the latent that is fed back; left out, it is not"),
        field<&A::loss>("loss", "... m steps", reals, "predicted losses L_1, L_2, ..."),
        field<&A::step_deltas>("step_deltas", "... m steps", reals, "|L_t - L_(t-1)|"),
        field<&A::hidden_norms>("hidden_norms", "... m steps", reals, "Euclidean norms of h_t"),
        field<&A::entropy>("entropy", "... m steps", reals, "- sum p ln p of the categories, nats"),
        field<&A::variance>("variance", "... m", reals, "population variance of L_0, L_1, ..."),
        field<&A::smoothness>("smoothness", "... m", reals,
                              "mean |L_(t+1) - 2 L_t + L_(t-1)|; 0 for one step"),
        field<&A::mean>("mean", "... steps", reals, "mean of L_t over the members"),
        field<&A::spread>("spread", "... steps", reals, "population variance of L_t over the members"),
        field<&A::last>("last", "... m n", reals, "hidden states after the last step"),
        option<&A::steps>("steps", 1, 1'000'000,
                          "number of steps, usually 10 to 100; if controls are given, they decide it"),
        option<&A::reset>("reset", "r multiplies the part of h after its matrix product, or h before it"),
        option<&A::sample>("sample", "the latent is a category drawn from p, and not p itself"),
        option<&A::seed>("seed", "which sequence of random numbers"),
        option<&A::offset>("offset", 0, std::int64_t(1) << 60, "place of the first draw in the sequence"),
    };
  }
};

/// GRU of n units over t steps: gru_cell applied to x_0, x_1, ..., with weights as in torch.nn.GRU (one layer,
/// batch_first). Leading (batch) dimensions are equal and share the weights. f64, f32, f16 or bf16; gates are
/// computed in double for f64, else in float; the state is rounded to the dtype at each step. t = 0 gives last = h.
/// `last` may be `h`. Same bits from run to run on one variant.
/// Source: Cho et al., EMNLP 2014.
extern const Op<GruForwardArgs> gru_forward;

/// Imagined losses of a training: an ensemble of m recurrent models runs ahead on its own predictions.
///   x_t = features, with the first one replaced by L_t
///   h_(t+1) = GRU(x_t, h_t) of the member, as gru_cell; weight_controls c_t and weight_latent s_t join the part of x_t
///   p_t = softmax over i < c of h_t[floor(i n / c)]
///   s_t = p_t, or with `sample` 1 for a category drawn from p_t and 0 for the others
///   L_(t+1) = exp(clamp(a . h_(t+1) + b . s_(t+1), -10, 10))
/// Each member has its heads a and b. The leading (batch) dimensions, such as plans to compare, share all weights. The draw of
/// s_t in row r of h inverts the distribution function, in the order of the categories, at element offset + r (steps + 1) + t
/// of random_uniform in f64 of the seed. f64 or f32; matrix products as in matmul, those of many plans on a GPU in f32 from two f16 parts of
/// each factor, where a product errs by at most 3 2^-22 of it; there a state that is not finite makes NaN. `last` may be `h`. Same bits
/// from run to run on one variant; where h differs in its last bits, a draw may differ too. Latents and draws that are fed back are
/// computed step by step.
/// Sources: Hafner et al., ICML 2019 (recurrent state-space models; here the prior alone, without observations);
/// Cho et al., EMNLP 2014.
extern const Op<RssmRolloutArgs> rssm_rollout;

}  // namespace kolmo
