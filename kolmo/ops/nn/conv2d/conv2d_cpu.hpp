#pragma once
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/nn/conv2d/conv2d.hpp"

namespace kolmo {

/// Computes the output pixels in pieces, by the stream's threads. The terms of a piece are laid out as a
/// matrix, which OpenBLAS multiplies by the kernels of a group.
void conv2d_on_cpu(const Conv2dArgs& a, Arena arena, Stream& stream, int row);
void lay_conv2d_on_cpu(Arena& arena, const Conv2dArgs& a, const Site& site);

}  // namespace kolmo
