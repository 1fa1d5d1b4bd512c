#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct VectorAddArgs {
  In x, y;
  Out z;

  static constexpr auto fields() {
    return std::tuple{
        Field{"x", &VectorAddArgs::x, "...", floats, "first summand"},
        Field{"y", &VectorAddArgs::y, "...", floats, "second summand"},
        Field{"z", &VectorAddArgs::z, "...", floats, "sum"},
    };
  }
};

/// z = x + y, element by element. x, y, z: any shape, one dtype of f64, f32, f16, bf16; 16-bit sums are
/// rounded once, from float. z may be x or y. Same bits on every device.
extern const Op<VectorAddArgs> vector_add;

}  // namespace kolmo
