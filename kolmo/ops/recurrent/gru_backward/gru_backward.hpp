#pragma once
#include "kolmo/op/op.hpp"
#include "kolmo/ops/recurrent/recurrent_cells/recurrent_cells.hpp"

namespace kolmo {

struct GruBackwardArgs {
  In x, h, weight_ih, weight_hh, states, grad_states;
  OptIn bias_ih, bias_hh, grad_last;
  Out grad_x, grad_h, grad_weight_ih, grad_weight_hh;
  OptOut grad_bias_ih, grad_bias_hh;
  GruReset reset = GruReset::after;

  static constexpr auto fields() {
    using A = GruBackwardArgs;
    return std::array{
        field<&A::x>("x", "... t k", reals, "inputs of t steps"),
        field<&A::h>("h", "... n", reals, "hidden state before the first step"),
        field<&A::weight_ih>("weight_ih", "g k", reals, "weights of x; g = 3 n, rows of r, z, n"),
        field<&A::weight_hh>("weight_hh", "g n", reals, "weights of h, in the same order"),
        field<&A::states>("states", "... t n", reals, "hidden states that gru_forward computed"),
        field<&A::grad_states>("grad_states", "... t n", reals, "gradient of the hidden states"),
        field<&A::bias_ih>("bias_ih", "g", reals, "added to the part of x"),
        field<&A::bias_hh>("bias_hh", "g", reals, "added to the part of h"),
        field<&A::grad_last>("grad_last", "... n", reals, "gradient of the last state, in addition"),
        field<&A::grad_x>("grad_x", "... t k", reals, "gradient of x"),
        field<&A::grad_h>("grad_h", "... n", reals, "gradient of the state before the first step"),
        field<&A::grad_weight_ih>("grad_weight_ih", "g k", reals, "gradient of weight_ih"),
        field<&A::grad_weight_hh>("grad_weight_hh", "g n", reals, "gradient of weight_hh"),
        field<&A::grad_bias_ih>("grad_bias_ih", "g", reals, "gradient of bias_ih"),
        field<&A::grad_bias_hh>("grad_bias_hh", "g", reals, "gradient of bias_hh"),
        option<&A::reset>("reset", "r multiplies the part of h after its matrix product, or h before it"),
    };
  }
};

/// Gradients of gru_forward by back-propagation through its t steps: of a loss whose gradient with respect to
/// the states is grad_states, and with respect to the last one grad_last in addition. Only `states` is kept of
/// the forward pass; gates are computed again. Back-propagation is truncated by calling it for a window: its
/// grad_h is then dropped, or becomes the grad_last of the window before. Gradients of weights and biases are
/// sums over the steps and the leading (batch) dimensions, which share the weights. f64 or f32, matrix
/// products as in matmul. Same bits from run to run on one variant and number of threads.
/// Sources: Cho et al., EMNLP 2014; Williams and Peng, Neural Computation 2(4), 1990.
extern const Op<GruBackwardArgs> gru_backward;

}  // namespace kolmo
