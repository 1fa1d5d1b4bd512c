#pragma once
#include <bit>
#include <cstdint>

#include "kolmo/base/hd.hpp"
#include "kolmo/base/ksg.hpp"
#include "kolmo/base/philox.hpp"

namespace kolmo {

/// A pseudo-random permutation of 0 .. n-1 (n <= 2^31) that needs no table: a Feistel network over the
/// smallest power of two that holds n, walked until the image falls below n. The same on every device.
/// Source: Black, Rogaway, "Ciphers with arbitrary finite domains" (2002); Mitchell et al.,
/// "Bandwidth-optimal random shuffling for GPUs", ACM TOPC 9 (2022).
struct Permutation {
  static constexpr int rounds = 12;  ///< even; tests/base/permutation_test.cpp looks for bias
  std::uint32_t n, right_bits, left_bits, key[rounds];

  Permutation() = default;
  KOLMO_HD constexpr Permutation(std::uint32_t size, std::uint64_t seed, std::uint64_t stream,
                                 std::uint64_t number)
      : n(size), right_bits(0), left_bits(0), key{} {
    std::uint32_t bits = 8;  // halves below four bits mix badly
    while (bits < 31 && (1u << bits) < n) ++bits;
    right_bits = (bits + 1) / 2, left_bits = bits / 2;
    const Philox random(seed);
    for (int r = 0; r < rounds; r += 4) {
      // The stream takes the high counter word, the number of the surrogate and the round share the low one.
      const Philox::Words w = random(number << 8 | std::uint64_t(r), stream);
      for (int i = 0; i < 4; ++i) key[r + i] = w.w[i];
    }
  }

  KOLMO_HD static constexpr std::uint32_t mix(std::uint32_t v, std::uint32_t k) {
    v = (v ^ k) * 0x9E3779B1u;
    v = (v ^ v >> 15) * 0x85EBCA77u;
    return v ^ v >> 13;
  }
  KOLMO_HD constexpr std::uint32_t once(std::uint32_t v) const {
    std::uint32_t left = v >> right_bits, right = v & ((1u << right_bits) - 1);
    for (int r = 0; r < rounds; r += 2) {
      left ^= mix(right, key[r]) >> (32 - left_bits);
      right ^= mix(left, key[r + 1]) >> (32 - right_bits);
    }
    return left << right_bits | right;
  }
  KOLMO_HD constexpr std::uint32_t operator()(std::uint32_t i) const {
    do i = once(i);
    while (i >= n);
    return i;
  }
};

/// Which row of x a surrogate puts at row i. Surrogate 0 is the observed data.
struct SurrogateMap {
  SurrogateType type;
  bool observed;
  std::uint32_t n, length, short_at, last;  // block length; where the one short block went, and its length
  std::uint32_t shift;
  Permutation permutation;

  KOLMO_HD constexpr SurrogateMap(SurrogateType t, std::uint32_t rows, std::uint32_t block_length,
                                  std::uint64_t seed, std::uint64_t stream, std::uint64_t number)
      : type(t),
        observed(number == 0),
        n(rows),
        length(block_length),
        short_at(0),
        last(0),
        shift(0),
        permutation{} {
    if (observed || n < 2) {
      observed = true;
      return;
    }
    if (type == SurrogateType::circular) {
      const Philox::Words w = Philox(seed)(number << 8 | 0xff, stream);
      shift = 1 + std::uint32_t((std::uint64_t(w.w[0]) * (n - 1)) >> 32);
      return;
    }
    if (type == SurrogateType::permute) length = 1;
    const std::uint32_t count = (n + length - 1) / length;
    permutation = Permutation(count, seed, stream, number);
    last = n - (count - 1) * length;
    if (length > 1)
      while (permutation(short_at) != count - 1) ++short_at;
  }

  KOLMO_HD constexpr std::uint32_t operator()(std::uint32_t i) const {
    if (observed) return i;
    if (type == SurrogateType::circular) return i + shift < n ? i + shift : i + shift - n;
    if (length == 1) return permutation(i);
    const std::uint32_t begin = short_at * length;  // blocks before the short one are whole
    if (i < begin) return permutation(i / length) * length + i % length;
    if (i < begin + last) return (n - last) + (i - begin);
    i -= last;
    return permutation(i / length + 1) * length + i % length;
  }
};

}  // namespace kolmo
