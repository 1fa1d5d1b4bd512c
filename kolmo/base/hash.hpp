#pragma once
#include <cstdint>
#include <string_view>

namespace kolmo {

/// The 64-bit hash of bytes (FNV-1a), continued from `state`.
constexpr std::uint64_t fingerprint(std::string_view bytes, std::uint64_t state = 14695981039346656037u) {
  for (const char c : bytes) state = (state ^ std::uint8_t(c)) * 1099511628211u;
  return state;
}

/// A one-to-one map of 64-bit words in which every bit of the input moves every bit of the output.
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (mix64variant13).
constexpr std::uint64_t mixed(std::uint64_t word) {
  word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
  word = (word ^ word >> 27) * 0x94D049BB133111EBu;
  return word ^ word >> 31;
}

}  // namespace kolmo
