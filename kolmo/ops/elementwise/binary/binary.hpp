#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct BinaryArgs {
  In x, y;
  Out z;

  static constexpr auto fields() {
    using A = BinaryArgs;
    return std::array{
        field<&A::x>("x", "...?", floats, "left operand"),
        field<&A::y>("y", "...?", floats, "right operand"),
        field<&A::z>("z", "...", floats, "result"),
    };
  }
};

/// z = x + y, element by element. x and y: shapes that broadcast as in NumPy to that of z, one dtype of f64,
/// f32, f16, bf16. 16-bit results are computed in float and rounded once. z may be an operand of the same
/// shape. Same bits on every device.
extern const Op<BinaryArgs> vector_add;

/// z = x y, element by element; otherwise as vector_add.
extern const Op<BinaryArgs> elementwise_multiply;

}  // namespace kolmo
