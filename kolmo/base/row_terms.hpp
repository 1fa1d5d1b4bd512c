#pragma once
// Terms of plain sums over rows, for sum_rows of base/sums.hpp.
#include "kolmo/base/convert.hpp"
#include "kolmo/base/pack.hpp"
#include "kolmo/base/sums.hpp"

namespace kolmo {

/// The elements of rows of k.
template <class T>
struct ValueRows {
  const T* x;
  std::int64_t k;

  struct Row {
    const T* x;
    KOLMO_HD Sums<1> operator()(std::int64_t i) const { return {{double(x[i])}}; }
    template <int W>
    KOLMO_HD void load(std::int64_t i, Sums<1> (&terms)[W]) const {
      const auto p = widened(load_pack<W>(x + i));
      for (int w = 0; w < W; ++w) terms[w] = {{double(p.value[w])}};
    }
  };
  KOLMO_HD Row operator()(std::int64_t row) const { return {x + row * k}; }
};

/// The product of two elements of T in double. Those of f16 are exact in float.
template <class T>
KOLMO_HD double product(Compute<T> x, Compute<T> y) {
  if constexpr (std::is_same_v<T, Half>)
    return double(exact_mul(x, y));
  else
    return exact_mul(double(x), double(y));
}

/// The products of the elements of two tensors, in double.
template <class T>
struct ProductRows {
  const T *x, *y;
  std::int64_t k;

  struct Row {
    const T *x, *y;
    KOLMO_HD Sums<1> operator()(std::int64_t i) const {
      return {{product<T>(Compute<T>(x[i]), Compute<T>(y[i]))}};
    }
    template <int W>
    KOLMO_HD void load(std::int64_t i, Sums<1> (&terms)[W]) const {
      const auto p = widened(load_pack<W>(x + i)), q = widened(load_pack<W>(y + i));
      for (int w = 0; w < W; ++w) terms[w] = {{product<T>(p.value[w], q.value[w])}};
    }
  };
  KOLMO_HD Row operator()(std::int64_t row) const { return {x + row * k, y + row * k}; }
};

/// Stores the sum of a row, rounded to T once.
template <class T>
struct RoundedSum {
  T* sum;
  KOLMO_HD void operator()(std::int64_t row, const Sums<1>& s) const { sum[row] = T(one_nan(s.value[0])); }
};

}  // namespace kolmo
