#pragma once
#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"

namespace kolmo::check {
namespace {

using Vector = std::vector<long double>;

inline long double sigmoid_of(long double x) { return (1 + std::tanh(x / 2)) / 2; }

/// A GRU in long double. `member` says where in the tensors its weights begin. `added` joins the part of the inputs.
struct Unrolled {
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;
  std::int64_t n, k, member = 0;
  bool before;
  DType dtype = DType::f64;
  Vector added = {};

  long double rounded(long double v) const {
    if (dtype == DType::f16) return static_cast<long double>(float(Half(float(v))));
    if (dtype == DType::bf16) return static_cast<long double>(float(BFloat16(float(v))));
    return v;
  }
  long double of_input(std::int64_t row, const Vector& x) const {
    const std::int64_t g = member * 3 * n + row;
    long double sum = bias_ih.given() ? get(bias_ih, g) : 0;
    if (!added.empty()) sum += added[std::size_t(row)];
    for (std::int64_t j = 0; j < k; ++j) sum += get(weight_ih, g * k + j) * x[std::size_t(j)];
    return sum;
  }
  long double of_state(std::int64_t row, const Vector& h) const {
    const std::int64_t g = member * 3 * n + row;
    long double sum = bias_hh.given() ? get(bias_hh, g) : 0;
    for (std::int64_t j = 0; j < n; ++j) sum += get(weight_hh, g * n + j) * h[std::size_t(j)];
    return sum;
  }
  Vector step(const Vector& x, const Vector& h) const {
    Vector r(h), reset(h), next(h);
    for (std::int64_t i = 0; i < n; ++i) {
      r[std::size_t(i)] = sigmoid_of(of_input(i, x) + of_state(i, h));
      reset[std::size_t(i)] = rounded(r[std::size_t(i)] * h[std::size_t(i)]);
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const long double z = sigmoid_of(of_input(n + i, x) + of_state(n + i, h));
      const long double part =
          before ? of_state(2 * n + i, reset) : r[std::size_t(i)] * of_state(2 * n + i, h);
      next[std::size_t(i)] =
          rounded((1 - z) * std::tanh(of_input(2 * n + i, x) + part) + z * h[std::size_t(i)]);
    }
    return next;
  }
};

inline Vector elements(const Tensor& t, std::int64_t first, std::int64_t count) {
  Vector v;
  for (std::int64_t i = 0; i < count; ++i) v.push_back(get(t, first + i));
  return v;
}

}  // namespace
}  // namespace kolmo::check
