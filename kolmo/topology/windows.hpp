#pragma once
#include <optional>
#include <span>
#include <string>

#include "kolmo/topology/distances.hpp"

namespace kolmo::topology {

/// The delay embedding that makes points of the rows of series.
struct DelayOptions {
  std::int64_t dimension = 1;  ///< rows whose values a point has
  std::int64_t delay = 1;      ///< rows between them
  std::int64_t every = 1;      ///< rows from one point to the next
  bool normalize = false;      ///< each point less its mean, over its length
};

/// The delay vectors of the rows from `begin` to before `end` of `columns`, each of which has its values in order of time:
/// the point of row t has the values of the rows t, t + delay, ..., t + (dimension - 1) delay, column by column. With
/// `normalize`, a point without variance is 0. Throws InvalidArgument, beginning with `name`, if no point fits.
Points delay_points(std::span<const std::span<const double>> columns, std::int64_t begin, std::int64_t end,
                    const DelayOptions& options, const std::string& name);

}  // namespace kolmo::topology
