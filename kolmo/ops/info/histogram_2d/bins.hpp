#pragma once
#include <cstdint>

#include "kolmo/base/hd.hpp"

namespace kolmo {

/// `count` equal bins over [min, max] with the edges of numpy.linspace: edge(i) = min + i * step, and the
/// last edge is max. Bin i is [edge(i), edge(i + 1)); the last bin includes max. 1 / step must be finite.
struct Bins {
  double min, max, step, inverse;
  std::int64_t count;

  constexpr Bins(double low, double high, std::int64_t n)
      : min(low), max(high), step((high - low) / double(n)), inverse(1 / step), count(n) {}

  KOLMO_HD constexpr double edge(std::int64_t i) const {
    return i == count ? max : exact_add(min, exact_mul(double(i), step));
  }
  /// The bin of v; -1 outside the range (with `clamp`, the nearest bin); always -1 for NaN.
  KOLMO_HD constexpr std::int64_t of(double v, bool clamp) const {
    if (!(v >= min && v <= max)) return clamp && v < min ? 0 : clamp && v > max ? count - 1 : -1;
    // An estimate, which may be off by one bin if v is within rounding of an edge; the edges decide.
    const int last = int(count) - 1;
    int bin = int((v - min) * inverse);
    if (bin > last) bin = last;
    while (bin > 0 && v < edge(bin)) --bin;
    while (bin < last && v >= edge(bin + 1)) ++bin;
    return bin;
  }
};

}  // namespace kolmo
