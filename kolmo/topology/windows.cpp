#include "kolmo/topology/windows.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/base/error.hpp"

namespace kolmo::topology {
namespace {

/// Takes the mean from a point and divides it by its length, so that its shape is left, without level and amplitude.
/// Source: Perea, Harer, Found. Comput. Math. 15, 799 (2015).
void normalize(double* point, std::int64_t width) {
  double largest = 0, mean = 0, square = 0;
  for (std::int64_t k = 0; k < width; ++k) largest = std::max(largest, std::fabs(point[k]));
  // Squares of what is above the last digits of such numbers neither overflow nor vanish.
  if (largest > 0 && largest < HUGE_VAL && (largest < 0x1p-400 || largest > 0x1p400)) {
    const int scale = std::ilogb(largest);
    for (std::int64_t k = 0; k < width; ++k) point[k] = std::scalbn(point[k], -scale);
  }
  for (std::int64_t k = 0; k < width; ++k) mean += point[k] / double(width);
  for (std::int64_t k = 0; k < width; ++k) point[k] -= mean, square += point[k] * point[k];
  const double length = std::sqrt(square);
  for (std::int64_t k = 0; k < width; ++k)
    point[k] = length > 1e-12 * std::fabs(mean) ? point[k] / length : 0;
}

}  // namespace

Points delay_points(std::span<const std::span<const double>> columns, std::int64_t begin, std::int64_t end,
                    const DelayOptions& options, const std::string& name) {
  require(end > begin, name + ": there are no points");
  const std::int64_t span = (options.dimension - 1) * options.delay;
  require(end - begin > span, name + ": a point spans " + std::to_string(span + 1) +
                                  " rows, by dimension and delay, but there are " +
                                  std::to_string(end - begin));
  Points points;
  points.width = std::int64_t(columns.size()) * options.dimension;
  for (std::int64_t t = begin; t + span < end; t += options.every) {
    for (const auto column : columns)
      for (std::int64_t k = 0; k < options.dimension; ++k)
        points.values.push_back(column[std::size_t(t + k * options.delay)]);
    if (options.normalize)
      normalize(points.values.data() + points.values.size() - points.width, points.width);
  }
  return points;
}

}  // namespace kolmo::topology
