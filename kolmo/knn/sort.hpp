#pragma once
#include <cstddef>
#include <cstdint>

namespace kolmo::knn {

/// A 128-bit sort key, ordered by `high`, then by `low`.
struct alignas(16) SortKey {
  std::uint64_t low, high;
};

/// Maps numbers to integers that have the same order.
inline std::uint64_t ordered_bits(double v) {
  const auto bits = __builtin_bit_cast(std::uint64_t, v + 0.0);  // + 0.0 makes -0 and 0 equal
  return bits >> 63 ? ~bits : bits | std::uint64_t(1) << 63;
}

/// Sort in ascending order, by Highway's vectorised quicksort.
void sort(SortKey* keys, std::size_t n);
void sort(std::uint64_t* keys, std::size_t n);
void sort(double* keys, std::size_t n);
void sort(float* keys, std::size_t n);

}  // namespace kolmo::knn
