#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct Fp32ToFp16Args {
  In x;
  Out y;

  static constexpr auto fields() {
    return std::array{
        field<&Fp32ToFp16Args::x>("x", "...", DTypes::of(DType::f32), "single precision"),
        field<&Fp32ToFp16Args::y>("y", "...", DTypes::of(DType::f16), "half precision"),
    };
  }
};

/// y = x rounded to IEEE 754 binary16, to nearest with ties to even, element by element. Subnormals are kept;
/// magnitudes of 65520 and more become inf; a NaN becomes the quiet NaN of its sign and upper payload bits.
/// Same bits on every device.
/// Source: IEEE 754-2019, 5.4.2.
extern const Op<Fp32ToFp16Args> fp32_to_fp16;

}  // namespace kolmo
