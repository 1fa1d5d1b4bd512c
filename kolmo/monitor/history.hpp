#pragma once
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "kolmo/runtime/metrics.hpp"

namespace kolmo::monitor {

/// The last minutes of every series, from collections about a second apart: rates of counters, values of
/// gauges over time, and histograms of time windows. A window's histogram is the difference of two
/// collections, so its quantiles cover exactly what was recorded in the window.
class History {
 public:
  static constexpr double span = 300;  ///< seconds

  void add(double now, const std::vector<metrics::Family>& families);

  struct Window {
    metrics::HistogramData data;
    double seconds = 0;  ///< length of the window that is available
  };
  /// The values a histogram recorded in the last `seconds` seconds.
  Window window(const std::string& series, double seconds) const;
  /// Growth of a counter per second over the last `seconds` seconds; NaN before there are two collections.
  double rate(const std::string& series, double seconds) const;
  /// A gauge's value, or a counter's growth per second, at every collection, oldest first; NaN if missing.
  std::vector<double> values(const std::string& series) const;
  std::vector<double> times() const;

 private:
  struct Growth {  // growth of a histogram between two collections
    std::size_t collection;
    double sum;
    std::vector<std::pair<std::int16_t, std::uint64_t>> counts;
  };
  struct Track {
    metrics::Kind kind;
    metrics::HistogramData last;
    std::deque<Growth> growths;
    std::deque<std::pair<std::size_t, double>> values;
  };
  double time_of(std::size_t collection) const { return times_[collection - first_]; }
  const Track* find(const std::string& series) const;

  std::deque<double> times_;
  std::size_t first_ = 0;  // number of the first collection in times_
  std::map<std::string, Track> tracks_;
};

}  // namespace kolmo::monitor
