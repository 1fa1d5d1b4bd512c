#pragma once
#include <cstdint>

namespace kolmo {

/// Computes lane_sum of base/sums.hpp, with the same bits, in vectors: of n elements, or of the products of n
/// pairs.
double vector_lane_sum(const float* x, std::int64_t n);
double vector_lane_sum(const double* x, std::int64_t n);
double vector_lane_sum(const float* x, const float* y, std::int64_t n);
double vector_lane_sum(const double* x, const double* y, std::int64_t n);

}  // namespace kolmo
