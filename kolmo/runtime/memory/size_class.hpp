#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace kolmo::memory {

constexpr std::size_t alignment = 256;  // of every block, as cudaMalloc promises and DLPack asks for
constexpr std::size_t largest_class = std::size_t(1) << 20;

constexpr std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }

/// Rounds a size up to its class. There are four size classes per octave, all multiples of `alignment`. From
/// 1 KiB on, a class is at most a quarter larger than the request.
constexpr std::size_t class_bytes(std::size_t bytes) {
  return round_up(bytes, std::max(alignment, std::bit_ceil(bytes) / 8));
}

/// Index of a class of at most `largest_class` bytes: 256, 512, 768, 1024, 1280, ... are 0, 1, 2, 3, 4, ...
constexpr int class_index(std::size_t bytes) {
  const std::size_t rounded = class_bytes(bytes);
  if (rounded <= 4 * alignment) return int(rounded / alignment) - 1;
  const int octave = std::bit_width(rounded - 1) - 1;
  return 4 * (octave - 10) + 3 + int((rounded - (std::size_t(1) << octave)) >> (octave - 2));
}
constexpr int class_count = class_index(largest_class) + 1;

}  // namespace kolmo::memory
