#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kolmo::knn {

/// The length of neighbour lists in (y, z) at which a few points in a thousand need a second search. The
/// formula was fitted to TE(1,1) of autoregressive series with n = 300 to 10^5; longer pasts need less.
inline std::int64_t list_length(std::int64_t n, std::int64_t k) {
  const double mean = 3.2 * std::cbrt(double(n)) * std::pow(double(k) / 4, 2. / 3);
  return std::min<std::int64_t>(n - 1, std::int64_t(8 * mean) + 8);
}

}  // namespace kolmo::knn
