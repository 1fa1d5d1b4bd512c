#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct LstmCellArgs {
  In x, h, c, weight_ih, weight_hh;
  OptIn bias_ih, bias_hh;
  Out h_next, c_next;

  static constexpr auto fields() {
    using A = LstmCellArgs;
    return std::array{
        field<&A::x>("x", "... k", floats, "input"),
        field<&A::h>("h", "... n", floats, "hidden state"),
        field<&A::c>("c", "... n", floats, "cell state"),
        field<&A::weight_ih>("weight_ih", "g k", floats, "weights of x; g = 4 n, rows of i, f, g, o"),
        field<&A::weight_hh>("weight_hh", "g n", floats, "weights of h, in the same order"),
        field<&A::bias_ih>("bias_ih", "g", floats, "added to the part of x"),
        field<&A::bias_hh>("bias_hh", "g", floats, "added to the part of h"),
        field<&A::h_next>("h_next", "... n", floats, "hidden state after the step"),
        field<&A::c_next>("c_next", "... n", floats, "cell state after the step"),
    };
  }
};

enum class GruReset : std::int32_t { after, before };
inline constexpr std::string_view gru_reset_names[] = {"after", "before"};
constexpr std::span<const std::string_view> names_of(GruReset) { return gru_reset_names; }

struct GruCellArgs {
  In x, h, weight_ih, weight_hh;
  OptIn bias_ih, bias_hh;
  Out h_next;
  GruReset reset = GruReset::after;

  static constexpr auto fields() {
    using A = GruCellArgs;
    return std::array{
        field<&A::x>("x", "... k", floats, "input"),
        field<&A::h>("h", "... n", floats, "hidden state"),
        field<&A::weight_ih>("weight_ih", "g k", floats, "weights of x; g = 3 n, rows of r, z, n"),
        field<&A::weight_hh>("weight_hh", "g n", floats, "weights of h, in the same order"),
        field<&A::bias_ih>("bias_ih", "g", floats, "added to the part of x"),
        field<&A::bias_hh>("bias_hh", "g", floats, "added to the part of h"),
        field<&A::h_next>("h_next", "... n", floats, "hidden state after the step"),
        option<&A::reset>("reset", "r multiplies the part of h after its matrix product, or h before it"),
    };
  }
};

// Cells with n units for inputs of k numbers; leading (batch) dimensions are equal and share the weights, which are
// laid out as in torch.nn.LSTMCell and GRUCell. f64, f32, f16 or bf16; gates are computed in double for f64, else
// in float. Outputs may be the states they replace. Same bits from run to run.

/// LSTM cell, s the logistic function: with a = W_ih x + b_ih + W_hh h + b_hh in four parts
///   i = s(a_i), f = s(a_f), g = tanh(a_g), o = s(a_o),  c' = f c + i g,  h' = o tanh(c')
/// Sources: Hochreiter & Schmidhuber 1997; Gers, Schmidhuber & Cummins 2000.
extern const Op<LstmCellArgs> lstm_cell;

/// GRU cell: with u = W_ih x + b_ih and v = W_hh h + b_hh in three parts, s the logistic function,
///   r = s(u_r + v_r), z = s(u_z + v_z),  h' = (1 - z) n + z h
///   reset after   n = tanh(u_n + r v_n)                            as torch and cuDNN
///   reset before  n = tanh(u_n + W_hn (r h) + b_hn)                as the third version of Cho et al.
/// For 16-bit dtypes r h is rounded before its product.
/// Source: Cho et al., EMNLP 2014.
extern const Op<GruCellArgs> gru_cell;

}  // namespace kolmo
