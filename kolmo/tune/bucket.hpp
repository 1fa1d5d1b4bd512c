#pragma once
#include <bit>
#include <cstdint>

namespace kolmo::tune {

/// A range of sizes, which share a configuration. It is tuned at the upper edge, `high`.
struct Bucket {
  std::int64_t low = 0, high = 0;
  friend constexpr bool operator==(const Bucket&, const Bucket&) = default;
};

/// The upper edge of a size's bucket. Edges are the powers of two up to 256, then four per octave (320, 384,
/// 448, 512, ...). The edge of 0 is 0. Sizes beyond 2^62 share one bucket.
constexpr std::int64_t bucket_edge(std::int64_t size) {
  if (size <= 0) return 0;
  const auto n = std::uint64_t(size - 1);  // an upper edge belongs to the octave that it ends
  if (n < 256) return n == 0 ? 1 : std::int64_t(std::bit_ceil(n + 1));
  const int step = std::bit_width(n) - 3;  // 2^step is a quarter of the octave
  if (step > 59) return std::int64_t(1) << 62;
  return std::int64_t(((n >> step) + 1) << step);
}

/// The bucket of a size.
constexpr Bucket bucket_of(std::int64_t size) {
  const std::int64_t high = bucket_edge(size);
  if (high <= 1) return {high, high};
  if (high <= 256) return {high / 2 + 1, high};
  const auto n = std::uint64_t(high - 1);
  return {high - (std::int64_t(1) << (std::bit_width(n) - 3)) + 1, high};
}

}  // namespace kolmo::tune
