#pragma once
#include <array>
#include <cstdint>

namespace kolmo::metrics {

/// Upper edges that are exported, in seconds; counts at these are exact. They include the 10 ms of the
/// latency objective, and otherwise go in steps of 1, 2, 5.
inline constexpr std::array edges{1e-6, 2e-6, 5e-6, 1e-5,  2e-5, 5e-5,  1e-4, 2e-4, 5e-4, .001,
                                  .002, .003, .005, .0075, .010, .0125, .015, .02,  .05,  .1,
                                  .2,   .5,   1.,   2.,    5.,   10.,   30.,  60.,  120.};

/// Log-linear buckets: 16 per octave from 0.93 ns to 512 s, so that none is wider than 6.25 % of its lower
/// bound, and split at the exported edges. A bucket includes its upper bound only if that is an exported
/// edge. Bucket 0 holds smaller values, the last one larger values.
namespace buckets {
inline constexpr int per_octave = 16, lowest_exponent = -30, octaves = 39;
inline constexpr int regular = per_octave * octaves + 2;
inline constexpr int count = regular + int(edges.size());

int index(double seconds) noexcept;
double lower(int bucket);
double upper(int bucket);  ///< infinite for the last one
}  // namespace buckets

/// The content of a histogram at one moment. The difference of two moments is what was recorded between them.
struct HistogramData {
  std::array<std::uint64_t, buckets::count> counts{};
  double sum = 0;

  std::uint64_t count() const;
  double mean() const;  ///< 0 when empty
  /// Number of recorded values up to and including edges[edge].
  std::uint64_t up_to(std::size_t edge) const;
  /// The q-quantile, linear within its bucket and so at most 6.25 % off; 0 when empty.
  double quantile(double q) const;
  HistogramData& operator+=(const HistogramData& other);
  HistogramData& operator-=(const HistogramData& earlier);
};

}  // namespace kolmo::metrics
