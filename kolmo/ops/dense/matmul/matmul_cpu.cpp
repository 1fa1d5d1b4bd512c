#include "kolmo/ops/dense/matmul/matmul_cpu.hpp"

#include <cblas.h>

#include <algorithm>
#include <climits>
#include <mutex>

#include "kolmo/ops/dense/matmul/matmul_sizes.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

namespace kolmo {
namespace {
using A = MatmulArgs;

constexpr double worth_a_thread = 1 << 18;  // products; some 20 us

/// Calls f.operator()<T, Y>() with the element types of the inputs and of y.
template <class F>
void visit_types(const A& x, F&& f) {
  visit<double, float, Half, BFloat16>(x.a.dtype, [&]<class T> {
    if (x.y.dtype == x.a.dtype)
      f.template operator()<T, T>();
    else
      f.template operator()<T, float>();
  });
}

/// A part of y that one thread computes: of one batch entry, whole rows or whole columns.
struct Part {
  std::int64_t entry, row, rows, column, columns;
};

/// Cuts y into parts for so many threads: batch entries first, then the longer side in multiples of 16, each
/// part worth a thread.
class Parts {
 public:
  Parts(const MatmulSizes& s, int threads) : s_(s) {
    const double all = double(s.m) * double(s.n) * double(std::max<std::int64_t>(s.k, 1));
    auto wanted =
        std::min<std::int64_t>((threads + s.batch - 1) / s.batch, std::int64_t(all / worth_a_thread));
    const std::int64_t side = std::max(s.m, s.n);
    wanted = std::max<std::int64_t>(wanted, 1);
    step_ = ((side + wanted - 1) / wanted + 15) / 16 * 16;
    per_entry_ = (side + step_ - 1) / step_;
  }
  std::int64_t count() const { return s_.batch * per_entry_; }
  Part operator[](std::int64_t i) const {
    const std::int64_t entry = i / per_entry_, first = i % per_entry_ * step_;
    if (s_.m >= s_.n) return {entry, first, std::min(step_, s_.m - first), 0, s_.n};
    return {entry, 0, s_.m, first, std::min(step_, s_.n - first)};
  }

 private:
  MatmulSizes s_;
  std::int64_t step_, per_entry_;
};

/// Calls work(part) for every part of y, on the stream's threads.
template <class F>
void for_each_part(const MatmulSizes& s, int threads, F&& work) {
  const Parts parts(s, threads);
  const bool small = double(s.batch) * double(s.m) * double(s.n) * double(s.k) < worth_a_thread;
  parallel_for(small ? 1 : threads, parts.count(), [&](std::int64_t i, int) { work(parts[i]); });
}

/// Held while OpenBLAS works where that is a build without threads: calls at the same time share its buffers
/// then, and their results are wrong.
std::unique_lock<std::mutex> turn() {
  static const bool any_number_at_once = openblas_get_parallel() != OPENBLAS_SEQUENTIAL;
  static std::mutex one_at_a_time;
  return any_number_at_once ? std::unique_lock<std::mutex>() : std::unique_lock(one_at_a_time);
}

// clang-format off
void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha, const double* a, int lda,
          const double* b, int ldb, double beta, double* c, int ldc) {
  const auto lock = turn();
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha, const float* a, int lda,
          const float* b, int ldb, double beta, float* c, int ldc) {
  const auto lock = turn();
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, float(alpha), a, lda, b, ldb, float(beta), c, ldc);
}
// clang-format on

/// The tensor as numbers of type S: itself, or widened into `room`, which moves on.
template <class S, class T>
const S* widened(const Tensor& t, S*& room, int threads) {
  if constexpr (std::is_same_v<S, T>) {
    return t.as<T>();
  } else {
    S* const to = room;
    const T* from = t.as<T>();
    const std::int64_t n = t.size(), block = 1 << 16;
    room += n;
    parallel_for(threads, (n + block - 1) / block, [&](std::int64_t i, int) {
      std::transform(from + i * block, from + std::min(n, (i + 1) * block), to + i * block,
                     [](T v) { return S(v); });
    });
    return to;
  }
}

}  // namespace

void matmul_openblas(const A& x, void* workspace, Stream& stream) {
  // Kolmo's threads share out the work; OpenBLAS's own, where it has any, stay out of it.
  static std::once_flag once;
  std::call_once(once, [] { openblas_set_num_threads(1); });
  const MatmulSizes s(x);
  const int threads = stream.threads(), k = x.alpha == 0 ? 0 : int(s.k), lda = int(x.transpose_a ? s.m : s.k),
            ldb = int(x.transpose_b ? s.k : s.n), ldy = int(s.n);
  visit_types(x, [&]<class T, class Y> {
    using S = SumOf<T>;
    S* room = static_cast<S*>(workspace);
    const S *a = k ? widened<S, T>(x.a, room, threads) : nullptr,
            *b = k ? widened<S, T>(x.b, room, threads) : nullptr;
    const T *c = adds_c(x) ? x.c.as<T>() : nullptr, *bias = x.bias.given() ? x.bias.as<T>() : nullptr;
    Y* const y = x.y.as<Y>();
    S* sums = room;
    if constexpr (std::is_same_v<S, Y>) sums = y;
    for_each_part(s, threads, [&](const Part& p) {
      const std::int64_t origin = (p.entry * s.m + p.row) * s.n + p.column;
      const auto each_row = [&](auto&& work) {
        for (std::int64_t i = 0; i < p.rows; ++i) work(origin + i * s.n);
      };
      const void* const same = sums;
      if (c && c != same)
        each_row([&](std::int64_t at) {
          for (std::int64_t j = at; j < at + p.columns; ++j) sums[j] = S(c[j]);
        });
      const double beta = c ? x.beta : 0;
      if (k)
        gemm(x.transpose_a ? CblasTrans : CblasNoTrans, x.transpose_b ? CblasTrans : CblasNoTrans,
             int(p.rows), int(p.columns), k, x.alpha,
             a + p.entry * s.m * s.k + p.row * (x.transpose_a ? 1 : s.k), lda,
             b + p.entry * s.k * s.n + p.column * (x.transpose_b ? s.k : 1), ldb, beta, sums + origin, ldy);
      else
        each_row([&](std::int64_t at) {
          for (std::int64_t j = at; j < at + p.columns; ++j) sums[j] = c ? S(beta) * sums[j] : S(0);
        });
      const void* const written = y;
      if (bias || x.activation != Activation::none || written != same)
        each_row([&](std::int64_t at) {
          for (std::int64_t j = 0; j < p.columns; ++j)
            y[at + j] = Y(activate(x.activation, bias ? sums[at + j] + S(bias[p.column + j]) : sums[at + j]));
        });
    });
  });
}

std::size_t matmul_openblas_workspace(const A& x, int) {
  if (x.a.dtype == DType::f64 || x.a.dtype == DType::f32) return 0;
  const std::int64_t sums = x.y.dtype == DType::f32 ? 0 : x.y.size();
  return std::size_t(x.a.size() + x.b.size() + sums) * sizeof(float);
}

bool matmul_openblas_fits(const A& x) {
  const MatmulSizes s(x);
  return s.m <= INT_MAX && s.n <= INT_MAX && s.k <= INT_MAX;
}

void matmul_naive(const A& x, void*, Stream& stream) {
  const MatmulSizes s(x);
  visit_types(x, [&]<class T, class Y> {
    using S = SumOf<T>;
    const T *c = adds_c(x) ? x.c.as<T>() : nullptr, *bias = x.bias.given() ? x.bias.as<T>() : nullptr;
    const std::int64_t step_a = x.transpose_a ? s.m : 1, row_a = x.transpose_a ? 1 : s.k;
    const std::int64_t step_b = x.transpose_b ? 1 : s.n, column_b = x.transpose_b ? s.k : 1;
    for_each_part(s, stream.threads(), [&](const Part& p) {
      constexpr std::int64_t width = 256;
      for (std::int64_t i = p.row; i < p.row + p.rows; ++i)
        for (std::int64_t j0 = p.column; j0 < p.column + p.columns; j0 += width) {
          const std::int64_t columns = std::min(width, p.column + p.columns - j0);
          const T *a = x.a.as<T>() + p.entry * s.m * s.k + i * row_a,
                  *b = x.b.as<T>() + p.entry * s.k * s.n + j0 * column_b;
          S sum[width] = {};
          for (std::int64_t k = 0; k < s.k && x.alpha != 0; ++k) {
            const S left = S(a[k * step_a]);
            for (std::int64_t j = 0; j < columns; ++j) sum[j] += left * S(b[k * step_b + j * column_b]);
          }
          const std::int64_t at = (p.entry * s.m + i) * s.n + j0;
          for (std::int64_t j = 0; j < columns; ++j) {
            S v = S(x.alpha) * sum[j];
            if (c) v += S(x.beta) * S(c[at + j]);
            if (bias) v += S(bias[j0 + j]);
            x.y.as<Y>()[at + j] = Y(activate(x.activation, v));
          }
        }
    });
  });
}

}  // namespace kolmo
