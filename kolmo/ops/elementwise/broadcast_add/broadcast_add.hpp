#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct BroadcastAddArgs {
  In x, bias;
  Out y;

  static constexpr auto fields() {
    using A = BroadcastAddArgs;
    return std::array{
        field<&A::x>("x", "... f", floats, "rows"),
        field<&A::bias>("bias", "f", floats, "summand of each column"),
        field<&A::y>("y", "... f", floats, "sum of each row and bias"),
    };
  }
};

/// y[..., f] = x[..., f] + bias[f]. x, y: any number of rows of f columns; x, bias, y: one dtype of f64, f32,
/// f16, bf16. 16-bit results are computed in float and rounded once. y may be x. Same bits on every device.
/// vector_add adds tensors that broadcast in any other way.
extern const Op<BroadcastAddArgs> broadcast_add;

}  // namespace kolmo
