#include "kolmo/predict/model/likeness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kolmo::predict {
namespace {

constexpr std::size_t group = 5, neighbor = 2;  // counted from 0
constexpr double share_within = .95;
constexpr float none = std::numeric_limits<float>::quiet_NaN();

using Curve = Likeness::Curve;
using Levels = std::array<double, 2>;  // the first value of a curve and the latest one

Curve curve_of(const Seen& seen) {
  Curve curve;
  for (std::size_t end = group; end <= seen.count; end += group) {
    double sum = 0, known = 0;
    for (std::size_t i = end - group; i < end; ++i)
      if (seen.knows(i)) sum += std::log(seen.loss()[i]), ++known;
    curve.push_back(known ? float(sum / known) : none);
  }
  return curve;
}

bool reaches(const Curve& curve, std::size_t latest) {
  return latest < curve.size() && !std::isnan(curve[0]) && !std::isnan(curve[latest]);
}

/// The levels of runs, in units of the standard deviations over them.
struct RunLevels {
  std::vector<Levels> all;
  Levels unit{};

  RunLevels(const std::vector<Curve>& curves, std::size_t latest) {
    for (const Curve& c : curves)
      if (reaches(c, latest)) all.push_back({c[0], c[latest]});
    for (std::size_t d = 0; d < unit.size(); ++d) {
      double sum = 0, squares = 0;
      for (const Levels& p : all) sum += p[d];
      for (const Levels& p : all) squares += std::pow(p[d] - sum / double(all.size()), 2);
      unit[d] = std::max(std::sqrt(squares / double(all.size())), 1e-6);
    }
  }
  double third_nearest(const Levels& from, std::size_t leave_out) const {
    std::vector<double> distances;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (i != leave_out)
        distances.push_back(std::hypot((all[i][0] - from[0]) / unit[0], (all[i][1] - from[1]) / unit[1]));
    if (distances.size() <= neighbor) return 0;
    std::nth_element(distances.begin(), distances.begin() + neighbor, distances.end());
    return distances[neighbor];
  }
};

}  // namespace

Likeness::Likeness(std::span<const Blocks* const> runs) {
  std::size_t longest = 0;
  for (const Blocks* run : runs) {
    curves_.push_back(curve_of({*run, run->loss.size()}));
    longest = std::max(longest, curves_.back().size());
  }
  for (std::size_t latest = 0; latest < longest; ++latest) {
    const RunLevels levels(curves_, latest);
    if (levels.all.size() < fewest_runs) {
      limits_.push_back(none);
      continue;
    }
    std::vector<double> distances;
    for (std::size_t i = 0; i < levels.all.size(); ++i)
      distances.push_back(levels.third_nearest(levels.all[i], i));
    const auto at = distances.begin() + std::ptrdiff_t(share_within * double(distances.size() - 1));
    std::nth_element(distances.begin(), at, distances.end());
    limits_.push_back(float(*at));
  }
}

Likeness::Likeness(std::vector<Curve> curves, std::vector<float> limits)
    : curves_(std::move(curves)), limits_(std::move(limits)) {}

bool Likeness::unlike(const Seen& training) const {
  const Curve curve = curve_of(training);
  for (std::size_t latest = std::min(curve.size(), limits_.size()); latest-- > 1;)
    if (!std::isnan(limits_[latest]) && reaches(curve, latest))
      return RunLevels(curves_, latest).third_nearest({curve[0], curve[latest]}, SIZE_MAX) >
             double(limits_[latest]);
  return false;
}

}  // namespace kolmo::predict
