#pragma once
#include <cstdint>
#include <span>

namespace kolmo {

/// Standard normal noise of an element of a variable: depends only on these three arguments and not on the highest bit
/// of the key. Uses Marsaglia's polar method.
double element_noise(std::uint64_t seed, std::uint64_t key, std::int64_t row);

/// Writes deviation * element_noise(seed, key, row) for the rows 0, 1, ...; the same bits, several times as fast.
void fill_noise(std::uint64_t seed, std::uint64_t key, double deviation, std::span<double> noise);

}  // namespace kolmo
