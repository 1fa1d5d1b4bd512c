#pragma once
#include <cstdint>

#include "kolmo/base/hd.hpp"

namespace kolmo {

/// Whether the times of rows i and j differ by at most `window`; without `time` a row's time is its number.
/// Theiler's window (Phys. Rev. A 34, 2427, 1986) excludes neighbours that are near only because they were
/// measured soon after each other.
KOLMO_HD constexpr bool in_theiler_window(std::int64_t i, std::int64_t j, const std::int64_t* time,
                                          std::int64_t window) {
  const std::int64_t apart = time ? time[i] - time[j] : i - j;
  return (apart < 0 ? -apart : apart) <= window;
}

}  // namespace kolmo
