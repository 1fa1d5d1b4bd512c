#pragma once
#include <cstdint>

#include "kolmo/base/hd.hpp"

namespace kolmo {

/// a / b of numbers that are not negative: in 32 bits where they fit, which on a GPU is a fraction of the
/// work.
KOLMO_HD constexpr std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if ((a | b) >> 32) return a / b;
  return std::int64_t(std::uint32_t(a) / std::uint32_t(b));
}

}  // namespace kolmo
