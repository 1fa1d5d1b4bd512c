#include "kolmo/runtime/cpu/blas.hpp"

#include <cblas.h>

#include <algorithm>
#include <mutex>

namespace kolmo {
namespace {

/// A lock that is held during calls of OpenBLAS if OpenBLAS was built without threads: concurrent calls of
/// such a build share its buffers and give wrong results.
std::unique_lock<std::mutex> turn() {
  // Kolmo's threads divide the work; OpenBLAS's own threads, if any, are switched off.
  static const bool any_number_at_once =
      (openblas_set_num_threads(1), openblas_get_parallel() != OPENBLAS_SEQUENTIAL);
  static std::mutex one_at_a_time;
  return any_number_at_once ? std::unique_lock<std::mutex>() : std::unique_lock(one_at_a_time);
}

CBLAS_TRANSPOSE turned(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }

}  // namespace

// A single row is the product of a matrix and a vector. OpenBLAS has functions for it that take a fifth of
// the time.
void gemm(const GemmShape& s, double alpha, const double* a, std::int64_t lda, const double* b,
          std::int64_t ldb, double beta, double* c, std::int64_t ldc) {
  const auto lock = turn();
  if (s.m == 1) {
    if (beta == 0) std::fill_n(c, s.n, 0);
    cblas_dgemv(CblasRowMajor, turned(!s.transpose_b), s.transpose_b ? s.n : s.k, s.transpose_b ? s.k : s.n,
                alpha, b, int(ldb), a, s.transpose_a ? int(lda) : 1, beta, c, 1);
  } else {
    cblas_dgemm(CblasRowMajor, turned(s.transpose_a), turned(s.transpose_b), s.m, s.n, s.k, alpha, a,
                int(lda), b, int(ldb), beta, c, int(ldc));
  }
}
void gemm(const GemmShape& s, double alpha, const float* a, std::int64_t lda, const float* b,
          std::int64_t ldb, double beta, float* c, std::int64_t ldc) {
  const auto lock = turn();
  if (s.m == 1) {
    if (beta == 0) std::fill_n(c, s.n, 0);
    cblas_sgemv(CblasRowMajor, turned(!s.transpose_b), s.transpose_b ? s.n : s.k, s.transpose_b ? s.k : s.n,
                float(alpha), b, int(ldb), a, s.transpose_a ? int(lda) : 1, float(beta), c, 1);
  } else {
    cblas_sgemm(CblasRowMajor, turned(s.transpose_a), turned(s.transpose_b), s.m, s.n, s.k, float(alpha), a,
                int(lda), b, int(ldb), float(beta), c, int(ldc));
  }
}

}  // namespace kolmo
