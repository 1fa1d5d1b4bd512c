#pragma once
#include "kolmo/ops/dense/matmul/matmul.hpp"

namespace kolmo {

/// By OpenBLAS, parts of y shared out over the stream's threads; 16-bit tensors are widened in the workspace.
void matmul_openblas(const MatmulArgs& x, void* workspace, Stream& stream);
std::size_t matmul_openblas_workspace(const MatmulArgs& x, int threads);
bool matmul_openblas_fits(const MatmulArgs& x);

/// Rows of y one after another, 256 columns at a time: what a compiler makes of three loops.
void matmul_naive(const MatmulArgs& x, void* workspace, Stream& stream);

}  // namespace kolmo
