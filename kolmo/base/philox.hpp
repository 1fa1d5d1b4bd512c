#pragma once
#include <array>
#include <cstdint>

#include "kolmo/base/hd.hpp"

namespace kolmo {

/// Philox4x32-10, a counter-based generator: (key, counter) -> four 32-bit words, the same on every device.
/// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
struct Philox {
  std::uint32_t key[2];

  KOLMO_HD constexpr explicit Philox(std::uint64_t seed)
      : key{std::uint32_t(seed), std::uint32_t(seed >> 32)} {}

  struct Words {
    std::uint32_t w[4];
  };
  KOLMO_HD constexpr Words operator()(std::uint64_t low, std::uint64_t high) const {
    Words c{{std::uint32_t(low), std::uint32_t(low >> 32), std::uint32_t(high), std::uint32_t(high >> 32)}};
    std::uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      const std::uint64_t p0 = std::uint64_t(0xD2511F53u) * c.w[0], p1 = std::uint64_t(0xCD9E8D57u) * c.w[2];
      c = {{std::uint32_t(p1 >> 32) ^ c.w[1] ^ k0, std::uint32_t(p1), std::uint32_t(p0 >> 32) ^ c.w[3] ^ k1,
            std::uint32_t(p0)}};
    }
    return c;
  }
};

/// Uniform double in [0, 1) with 53 random bits.
KOLMO_HD constexpr double uniform53(std::uint32_t high, std::uint32_t low) {
  return double((std::uint64_t(high) << 32 | low) >> 11) * 0x1p-53;
}

}  // namespace kolmo
