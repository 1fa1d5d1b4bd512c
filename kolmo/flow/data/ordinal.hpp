#pragma once
#include "kolmo/flow/data/series.hpp"

namespace kolmo {

/// The series with each value replaced by the number of its ordinal pattern, 0 to order! - 1. The pattern is the order in which
///   x(t - (order - 1) delay), ..., x(t - delay), x(t)
/// rise, equal values in the order of their time. A row whose pattern would reach beyond its observation set
/// belongs to none. The discrete estimator computes symbolic transfer entropy from this series. Throws
/// InvalidArgument, naming the file, if order is not 2 to 8, delay is below 1, or no row has a pattern.
/// Source: Bandt, Pompe, Phys. Rev. Lett. 88, 174102 (2002); Staniek, Lehnertz, Phys. Rev. Lett. 100, 158101 (2008).
Series ordinal_patterns(const Series& series, std::int64_t order, std::int64_t delay);

}  // namespace kolmo
