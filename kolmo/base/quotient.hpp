#pragma once
#include <cstdint>

#include "kolmo/base/hd.hpp"

namespace kolmo {

/// a / b for non-negative numbers. Operands that fit use 32 bits, which is several times faster on a GPU.
KOLMO_HD constexpr std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if ((a | b) >> 32) return a / b;
  return std::int64_t(std::uint32_t(a) / std::uint32_t(b));
}

}  // namespace kolmo
