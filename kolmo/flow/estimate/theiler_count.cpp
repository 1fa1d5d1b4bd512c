#include "kolmo/flow/estimate/theiler_count.hpp"

#include <algorithm>
#include <numeric>

#include "kolmo/base/digamma.hpp"

namespace kolmo {

std::vector<double> theiler_corrections(const Series& series, std::span<const std::int64_t> times,
                                        const EstimatorOptions& o) {
  if (o.theiler == 0 || o.theiler_count == TheilerCount::all) return {};
  std::vector<std::int64_t> time = theiler_times(series, times, o);
  if (time.empty()) time.assign(times.begin(), times.end());
  std::vector<std::int64_t> sorted = time;
  std::sort(sorted.begin(), sorted.end());
  const double all = digamma_exact(double(time.size()));
  const auto rank = [&](auto place) { return double(place - sorted.begin()); };
  std::vector<double> corrections;
  corrections.reserve(time.size());
  for (const std::int64_t t : time) {
    const double excluded = rank(std::upper_bound(sorted.begin(), sorted.end(), t + o.theiler)) -
                            rank(std::lower_bound(sorted.begin(), sorted.end(), t - o.theiler)) - 1;
    corrections.push_back(digamma_exact(double(time.size()) - excluded) - all);
  }
  return corrections;
}

double theiler_correction(const Series& series, std::span<const std::int64_t> times,
                          const EstimatorOptions& options) {
  const std::vector<double> corrections = theiler_corrections(series, times, options);
  if (corrections.empty()) return 0;
  return std::accumulate(corrections.begin(), corrections.end(), 0.0) / double(corrections.size());
}

}  // namespace kolmo
