#include "kolmo/ops/dense/matmul/matmul_cpu.hpp"

#include <algorithm>
#include <climits>

#include "kolmo/ops/dense/matmul/matmul_epilogue.hpp"
#include "kolmo/ops/dense/matmul/matmul_sizes.hpp"
#include "kolmo/runtime/cpu/blas.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = MatmulArgs;

constexpr double worth_a_thread = 1 << 18;  // products per thread; about 20 us

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

/// A part of y that one thread computes: whole rows or whole columns of one batch entry.
struct Part {
  std::int64_t entry, row, rows, column, columns;
};

/// Splits y into parts for a number of threads: by batch entry, then along the longer side in multiples of
/// 16. Each part has at least worth_a_thread products.
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

/// Returns the tensor as numbers of type S: its own memory, or a widened copy in `to`.
template <class S, class T>
const S* widened(const Tensor& t, [[maybe_unused]] float* to, int threads) {
  if constexpr (std::is_same_v<S, T>) {
    return t.as<T>();
  } else {
    const T* from = t.as<T>();
    const std::int64_t n = t.size(), block = 1 << 16;
    parallel_for(threads, (n + block - 1) / block, [&](std::int64_t i, int) {
      std::transform(from + i * block, from + std::min(n, (i + 1) * block), to + i * block,
                     [](T v) { return S(v); });
    });
    return to;
  }
}

}  // namespace

MatmulFloats::MatmulFloats(Arena& arena, const A& x) {
  if (x.a.dtype == DType::f64 || x.a.dtype == DType::f32) return;
  a = arena.take<float>(x.a.size()), b = arena.take<float>(x.b.size());
  if (x.y.dtype != DType::f32) sums = arena.take<float>(x.y.size());
}

void matmul_openblas(const A& x, Arena scratch, Stream& stream) {
  const MatmulSizes s(x);
  const int threads = stream.threads(), k = x.alpha == 0 ? 0 : int(s.k), lda = int(x.transpose_a ? s.m : s.k),
            ldb = int(x.transpose_b ? s.k : s.n), ldy = int(s.n);
  visit_types(x, [&]<class T, class Y> {
    using S = SumOf<T>;
    const MatmulFloats floats(scratch, x);
    const S *a = k ? widened<S, T>(x.a, floats.a, threads) : nullptr,
            *b = k ? widened<S, T>(x.b, floats.b, threads) : nullptr;
    const T *c = adds_c(x) ? x.c.as<T>() : nullptr, *bias = x.bias.given() ? x.bias.as<T>() : nullptr;
    Y* const y = x.y.as<Y>();
    S* sums = nullptr;
    if constexpr (std::is_same_v<S, Y>)
      sums = y;
    else if constexpr (std::is_same_v<S, float>)
      sums = floats.sums;
    const auto compute = [&](const Part& p) {
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
        gemm({x.transpose_a, x.transpose_b, int(p.rows), int(p.columns), k}, x.alpha,
             a + p.entry * s.m * s.k + p.row * (x.transpose_a ? 1 : s.k), lda,
             b + p.entry * s.k * s.n + p.column * (x.transpose_b ? s.k : 1), ldb, beta, sums + origin, ldy);
      else
        each_row([&](std::int64_t at) {
          for (std::int64_t j = at; j < at + p.columns; ++j) sums[j] = c ? S(beta) * sums[j] : S(0);
        });
      const void* const written = y;
      if (bias || x.activation != Activation::none || written != same)
        each_row([&](std::int64_t at) {
          if constexpr (std::is_same_v<S, T>) {
            finish_row(x.activation, sums + at, bias ? bias + p.column : nullptr, p.columns);
          } else {
            for (std::int64_t j = 0; bias && j < p.columns; ++j) sums[at + j] += S(bias[p.column + j]);
            finish_row(x.activation, sums + at, static_cast<const S*>(nullptr), p.columns);
          }
          if (written != same)
            for (std::int64_t j = 0; j < p.columns; ++j) y[at + j] = Y(sums[at + j]);
        });
    };
    // What follows the product (bias, activation, rounding) is done while its rows are in the cache. If the
    // product takes much longer than another pass over y, it is done in that pass.
    const bool epilogue = bias || x.activation != Activation::none || static_cast<void*>(y) != sums,
               strips = epilogue && k <= 512;
    for_each_part(s, threads, [&](const Part& p) {
      const std::int64_t strip =
          strips ? std::max<std::int64_t>(256, (1 << 16) / std::max<std::int64_t>(p.columns, 1)) : p.rows;
      for (std::int64_t row = 0; row < p.rows; row += strip)
        compute({p.entry, p.row + row, std::min(strip, p.rows - row), p.column, p.columns});
    });
  });
}

bool matmul_openblas_fits(const A& x) {
  const MatmulSizes s(x);
  return s.m <= INT_MAX && s.n <= INT_MAX && s.k <= INT_MAX;
}

void matmul_naive(const A& x, Arena, Stream& stream) {
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
