#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct ContiguousCopyArgs {
  In x;
  Out y;

  static constexpr auto fields() {
    using A = ContiguousCopyArgs;
    constexpr DTypes any = floats | integers | complexes | DTypes::of(DType::boolean);
    return std::array{
        field<&A::x>("x", "...", any, "elements anywhere in memory").strided(),
        field<&A::y>("y", "...", any, "the same, row by row without gaps"),
    };
  }
};

/// y = x as a contiguous tensor in row-major order, e.g. of a transposed view, a slice, every other row. x:
/// any shape, strides (0 and negative ones too) and dtype; y must not overlap it. Use it before operators
/// that need contiguous tensors. Same bits on every device.
extern const Op<ContiguousCopyArgs> contiguous_copy;

}  // namespace kolmo
