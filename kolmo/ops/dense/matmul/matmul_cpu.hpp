#pragma once
#include "kolmo/ops/dense/matmul/matmul.hpp"

namespace kolmo {

/// The rows of matmul's table of CPU variants; 16-bit tensors are widened to f32 in the workspace of the first.
extern const std::span<const CpuVariant<MatmulArgs>> matmul_on_cpu;

}  // namespace kolmo
