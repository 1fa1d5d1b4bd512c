#include "kolmo/runtime/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace kolmo::metrics {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The upper 12 + 4 bits of a double, which are its exponent and the first four bits of its fraction, number
/// the log-linear buckets.
constexpr std::int64_t first_bits = std::int64_t(1023 + buckets::lowest_exponent) << 4;

constexpr int regular_index(double seconds) {
  if (!(seconds > 0)) return 0;
  const std::int64_t i = (std::bit_cast<std::int64_t>(seconds) >> 48) - first_bits + 1;
  return int(std::clamp<std::int64_t>(i, 0, buckets::regular - 1));
}

constexpr double regular_lower(int i) {
  return i == 0 ? 0 : std::bit_cast<double>((first_bits + i - 1) << 48);
}

struct Layout {
  std::array<std::int16_t, buckets::regular> first{};  // bucket of the lower part of a regular one
  std::array<double, buckets::regular> split{};        // the edge inside it
  std::array<double, buckets::count + 1> lower{};
  std::array<std::int16_t, edges.size()> last_below{};  // bucket that ends at the edge

  constexpr Layout() {
    std::size_t edge = 0;
    int bucket = 0;
    for (int i = 0; i < buckets::regular; ++i) {
      first[std::size_t(i)] = std::int16_t(bucket);
      split[std::size_t(i)] = infinity;
      lower[std::size_t(bucket++)] = regular_lower(i);
      if (edge == edges.size() || regular_index(edges[edge]) != i) continue;
      last_below[edge] = std::int16_t(bucket - 1);
      split[std::size_t(i)] = edges[edge];
      lower[std::size_t(bucket++)] = edges[edge++];
    }
    lower[std::size_t(bucket)] = infinity;
  }
};
constexpr Layout layout;
static_assert(layout.lower[buckets::count] == infinity, "no two edges in one bucket");

}  // namespace

int buckets::index(double seconds) noexcept {
  const auto i = std::size_t(regular_index(seconds));
  return layout.first[i] + (seconds > layout.split[i]);
}
double buckets::lower(int bucket) { return layout.lower[std::size_t(bucket)]; }
double buckets::upper(int bucket) { return layout.lower[std::size_t(bucket) + 1]; }

std::uint64_t HistogramData::count() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t(0));
}

double HistogramData::mean() const {
  const std::uint64_t n = count();
  return n ? sum / double(n) : 0;
}

std::uint64_t HistogramData::up_to(std::size_t edge) const {
  return std::accumulate(counts.begin(), counts.begin() + layout.last_below[edge] + 1, std::uint64_t(0));
}

double HistogramData::quantile(double q) const {
  const std::uint64_t n = count();
  if (!n) return 0;
  const double rank = std::clamp(q, 0., 1.) * double(n);
  double below = 0;
  for (int b = 0; b < buckets::count; ++b) {
    const double here = double(counts[std::size_t(b)]);
    if (here > 0 && below + here >= rank) {
      const double low = buckets::lower(b), high = buckets::upper(b);
      return std::isinf(high) ? low : low + (high - low) * (rank - below) / here;
    }
    below += here;
  }
  return 0;
}

HistogramData& HistogramData::operator+=(const HistogramData& other) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  sum += other.sum;
  return *this;
}

HistogramData& HistogramData::operator-=(const HistogramData& earlier) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] -= earlier.counts[i];
  sum -= earlier.sum;
  return *this;
}

}  // namespace kolmo::metrics
