#pragma once
#include <cstdint>

namespace kolmo {

/// Computes c = alpha op(a) op(b) + beta c by OpenBLAS, on the calling thread alone, for row-major matrices
/// whose rows are lda, ldb and ldc elements apart; c is m x n, and op transposes if the flag is set. beta = 0
/// ignores c. Any thread may call, several at once. The first call loads OpenBLAS, and throws Unsupported if there
/// is none, and OutOfMemory if it cannot start in what `ulimit -v` leaves it.
struct GemmShape {
  bool transpose_a = false, transpose_b = false;
  int m, n, k;
};
void gemm(const GemmShape& shape, double alpha, const double* a, std::int64_t lda, const double* b,
          std::int64_t ldb, double beta, double* c, std::int64_t ldc);
void gemm(const GemmShape& shape, double alpha, const float* a, std::int64_t lda, const float* b,
          std::int64_t ldb, double beta, float* c, std::int64_t ldc);

}  // namespace kolmo
