#pragma once
#include <type_traits>

#include "kolmo/ops/dense/matmul/matmul.hpp"

namespace kolmo {

/// The type in which products of T are summed.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// The sizes of a call, read from a, b and the transpositions.
struct MatmulSizes {
  std::int64_t batch = 1, m, n, k;
  std::int64_t k_of_b;  ///< differs from k only in invalid calls

  explicit MatmulSizes(const MatmulArgs& x) {
    const auto last = [](const Tensor& t, int back) { return t.extent[std::size_t(t.rank - back)]; };
    m = last(x.a, x.transpose_a ? 1 : 2), k = last(x.a, x.transpose_a ? 2 : 1);
    k_of_b = last(x.b, x.transpose_b ? 1 : 2), n = last(x.b, x.transpose_b ? 2 : 1);
    for (int i = 0; i < x.a.rank - 2; ++i) batch *= x.a.extent[std::size_t(i)];
  }
};

/// Whether c contributes to the result.
inline bool adds_c(const MatmulArgs& x) { return x.c.given() && x.beta != 0; }

}  // namespace kolmo
