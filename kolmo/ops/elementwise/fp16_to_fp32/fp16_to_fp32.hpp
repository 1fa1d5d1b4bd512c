#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct Fp16ToFp32Args {
  In x;
  Out y;

  static constexpr auto fields() {
    return std::array{
        field<&Fp16ToFp32Args::x>("x", "...", DTypes::of(DType::f16), "half precision"),
        field<&Fp16ToFp32Args::y>("y", "...", DTypes::of(DType::f32), "single precision"),
    };
  }
};

/// y = x in single precision, exactly, element by element, subnormals and infinities included; a NaN becomes
/// the quiet NaN of its sign and payload. Same bits on every device. Source: IEEE 754-2019, 5.4.2.
extern const Op<Fp16ToFp32Args> fp16_to_fp32;

}  // namespace kolmo
