#pragma once
#include <bit>
#include <cstdint>

#include "kolmo/base/hd.hpp"
#include "kolmo/base/philox.hpp"

namespace kolmo {

/// A pseudo-random permutation of 0 .. n-1 (n <= 2^31) that needs no table and is the same on every device.
/// It is a Feistel network over the smallest power of two that holds n, applied again until the image is
/// below n (cycle walking). Source: Black, Rogaway, "Ciphers with arbitrary finite domains" (2002); Mitchell
/// et al., "Bandwidth-optimal random shuffling for GPUs", ACM TOPC 9 (2022).
struct Permutation {
  static constexpr int rounds = 12;  ///< even; tests/knn/permutation_test.cpp tests for bias
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
      // The counter's high word is the stream; its low word holds the surrogate's number and the round.
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
  KOLMO_HD constexpr std::uint32_t back(std::uint32_t v) const {
    std::uint32_t left = v >> right_bits, right = v & ((1u << right_bits) - 1);
    for (int r = rounds - 2; r >= 0; r -= 2) {
      right ^= mix(left, key[r + 1]) >> (32 - right_bits);
      left ^= mix(right, key[r]) >> (32 - left_bits);
    }
    return left << right_bits | right;
  }
  KOLMO_HD constexpr std::uint32_t operator()(std::uint32_t i) const {
    do i = once(i);
    while (i >= n);
    return i;
  }
  /// The i for which operator()(i) is v.
  KOLMO_HD constexpr std::uint32_t inverse(std::uint32_t v) const {
    do v = back(v);
    while (v >= n);
    return v;
  }
};

}  // namespace kolmo
