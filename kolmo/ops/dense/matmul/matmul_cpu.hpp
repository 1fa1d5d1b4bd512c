#pragma once
#include "kolmo/base/arena.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"

namespace kolmo {

/// Memory for 16-bit tensors as f32, which OpenBLAS needs: both factors, and the sums if y has 16 bits.
struct MatmulFloats {
  float *a = nullptr, *b = nullptr, *sums = nullptr;
  MatmulFloats(Arena& arena, const MatmulArgs& x);
};

/// Computes by OpenBLAS, with parts of y distributed over the stream's threads. 16-bit tensors are widened in
/// the workspace.
void matmul_openblas(const MatmulArgs& x, Arena scratch, Stream& stream);
bool matmul_openblas_fits(const MatmulArgs& x);

/// The baseline: three plain loops over rows of y, 256 columns at a time.
void matmul_naive(const MatmulArgs& x, Arena scratch, Stream& stream);

}  // namespace kolmo
