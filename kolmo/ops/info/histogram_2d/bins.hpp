#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "kolmo/base/hd.hpp"

namespace kolmo {

/// `count` equal bins over [min, max] with the edges of numpy.linspace: edge(i) = min + i * step, and the
/// last edge is max. Bin i is [edge(i), edge(i + 1)); the last bin includes max. 1 / step must be finite.
struct Bins {
  double min, max, step, inverse;
  /// By how much, in bins, the roundings of an estimate and of an edge can differ, with a margin.
  double unsure;
  std::int64_t count;

  constexpr Bins(double low, double high, std::int64_t n)
      : min(low),
        max(high),
        step((high - low) / double(n)),
        inverse(1 / step),
        unsure(0x1p-50 * (double(n) + std::max(-low, high) * inverse)),
        count(n) {}

  KOLMO_HD constexpr double edge(std::int64_t i) const {
    return i == count ? max : exact_add(min, exact_mul(double(i), step));
  }
  /// The bin of v; -1 outside the range (with `clamp`, the nearest bin); always -1 for NaN.
  KOLMO_HD constexpr std::int64_t of(double v, bool clamp) const {
    if (!(v >= min && v <= max)) return clamp && v < min ? 0 : clamp && v > max ? count - 1 : -1;
    // Adding 1.5 * 2^52 to an estimate leaves the number of the nearest edge in its last bits. The edges
    // themselves are compared only near an edge, where roundings could decide.
    const double place = (v - min) * inverse, nearest = place + 0x1.8p52, past = place - (nearest - 0x1.8p52);
    const int last = int(count) - 1;
    int bin = int(std::uint32_t(std::bit_cast<std::uint64_t>(nearest))) - (past < 0);
    if ((past < 0 ? -past : past) > unsure) return bin;
    bin = bin < 0 ? 0 : bin > last ? last : bin;
    while (bin > 0 && v < edge(bin)) --bin;
    while (bin < last && v >= edge(bin + 1)) ++bin;
    return bin;
  }
};

}  // namespace kolmo
