#pragma once
#include <cstdint>

#include "kolmo/base/activation.hpp"

namespace kolmo {

/// Computes x_i = activation(x_i + bias_i) in CPU vectors. If `bias` is null, nothing is added.
void finish_row(Activation activation, double* x, const double* bias, std::int64_t n);
void finish_row(Activation activation, float* x, const float* bias, std::int64_t n);

}  // namespace kolmo
