#pragma once
#include <cstdint>

namespace kolmo::knn {

/// Limits of GPU estimates with shared neighbour lists in one call: the least number of estimates of the same
/// (y, z), and the largest number of rows over all problems (places are 16-bit integers).
inline constexpr std::int64_t fewest_listed_estimates = 8, most_listed_rows = 65536;

}  // namespace kolmo::knn
