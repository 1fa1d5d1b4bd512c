#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include "kolmo/base/hd.hpp"

namespace kolmo {

/// IEEE 754 binary16. The type stores numbers only; arithmetic is done in float. Conversion rounds to
/// nearest, ties to even; subnormals and infinities are kept; a NaN becomes the quiet NaN of its sign and
/// upper payload bits. Kernels convert by the GPU's instruction, which gives the same bits.
struct Half {
  std::uint16_t bits = 0;

  Half() = default;
  KOLMO_HD constexpr Half(float f) : bits(from(f)) {}  // NOLINT(google-explicit-constructor)
  KOLMO_HD constexpr operator float() const {          // NOLINT(google-explicit-constructor)
    const std::uint32_t sign = std::uint32_t(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    if (magnitude > 0x7c00) return std::bit_cast<float>(sign | 0x7fc00000 | (magnitude & 0x3ff) << 13);
#ifdef __CUDA_ARCH__
    if (!std::is_constant_evaluated()) {
      float f;
      asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(bits));
      return f;
    }
#endif
    if (magnitude == 0x7c00) return std::bit_cast<float>(sign | 0x7f800000);
    if (magnitude >= 0x400) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000));
    const float subnormal = float(magnitude) * 0x1p-24f;
    return sign ? -subnormal : subnormal;
  }

 private:
  KOLMO_HD static constexpr std::uint16_t from(float f) {
    const std::uint32_t u = std::bit_cast<std::uint32_t>(f), sign = u >> 16 & 0x8000,
                        magnitude = u & 0x7fffffff;
    if (magnitude > 0x7f800000) return std::uint16_t(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
#ifdef __CUDA_ARCH__
    if (!std::is_constant_evaluated()) {
      std::uint16_t rounded;
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(rounded) : "f"(f));
      return rounded;
    }
#endif
    if (magnitude >= 0x477ff000) return std::uint16_t(sign | 0x7c00);
    if (magnitude < 0x38800000) {  // subnormal: in [0.5, 1) floats are 2^-24 apart, so the addition rounds
      const float rounded = std::bit_cast<float>(magnitude) + 0x1p-1f;
      return std::uint16_t(sign | (std::bit_cast<std::uint32_t>(rounded) - 0x3f000000));
    }
    const std::uint32_t odd = magnitude >> 13 & 1;
    return std::uint16_t(sign | (magnitude + 0xfff + odd - 0x38000000) >> 13);
  }
};

/// bfloat16: the upper half of a float, rounded to nearest even. Stores numbers only, like Half.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  KOLMO_HD constexpr BFloat16(float f) : bits(from(f)) {}  // NOLINT(google-explicit-constructor)
  KOLMO_HD constexpr operator float() const {              // NOLINT(google-explicit-constructor)
    return std::bit_cast<float>(std::uint32_t(bits) << 16);
  }

 private:
  KOLMO_HD static constexpr std::uint16_t from(float f) {
    const std::uint32_t u = std::bit_cast<std::uint32_t>(f);
    if ((u & 0x7fffffff) > 0x7f800000) return std::uint16_t(u >> 16 | 0x40);
    return std::uint16_t((u + 0x7fff + (u >> 16 & 1)) >> 16);
  }
};

/// The type in which arithmetic on T is done.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;

}  // namespace kolmo
