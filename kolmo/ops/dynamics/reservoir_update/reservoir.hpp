#pragma once
#include <array>
#include <cmath>

#include "kolmo/base/sparse.hpp"
#include "kolmo/op/inside.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"
#include "kolmo/ops/dynamics/reservoir_update/reservoir_update.hpp"

namespace kolmo {

/// Computes sum + W s for a sparse W, for each neuron of each state.
template <class T>
struct SparseDrive {
  SparseRows<T> weights;
  const T* state;
  T* sum;
  std::int64_t count;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t i) const {
    const std::int64_t row = i / weights.rows;
    const T* const s = state + row * weights.rows;
    double more = 0;
    weights.each(i - row * weights.rows, [&](std::int64_t j, T w) { more += double(w) * double(s[j]); });
    sum[i] = T(double(sum[i]) + more);
  }
};

template <class T>
KOLMO_HD T leaky(T sum, T state, T leak) {
  return (T(1) - leak) * state + leak * std::tanh(sum);
}
template <class T>
struct LeakyStep {
  const T *sum, *state;
  T *next, leak;
  std::int64_t count;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t i) const { next[i] = leaky(sum[i], state[i], leak); }
};

/// The workspace, and the matrix products that use it.
struct ReservoirSums {
  Tensor sum;
  MatmulArgs of_input, of_state;
  bool dense;

  ReservoirSums(Arena& arena, const ReservoirUpdateArgs& a) : dense(a.weights.given()) {
    const std::int64_t n = a.state.dim(-1), k = a.input.dim(-1), rows = a.next.size() / n;
    void* const memory = arena.take<std::byte>(a.next.size() * std::int64_t(size_of(a.next.dtype)));
    const auto matrix = [&](const Tensor& t, void* data, std::int64_t columns) {
      return tensor(data, t.dtype, std::array{rows, columns}, t.device);
    };
    sum = matrix(a.next, memory, n);
    of_input = {.a = matrix(a.input, a.input.data, k),
                .b = a.input_weights,
                .bias = a.bias,
                .y = sum,
                .transpose_b = true};
    of_state = {
        .a = matrix(a.state, a.state.data, n), .b = a.weights, .c = sum, .y = sum, .transpose_b = true};
  }
  void lay(Arena& arena, const Site& site) const {
    lay_inside(matmul, &of_input, arena, site);
    if (dense) lay_inside(matmul, &of_state, arena, site);
  }
};

/// Computes the operator; each(f) calls f(i) for all items of f.
template <class T, class Each>
void update_reservoir(const ReservoirUpdateArgs& a, Arena& arena, Stream& s, const Each& each) {
  const ReservoirSums sums(arena, a);
  const std::int64_t n = a.state.dim(-1);
  T* const sum = sums.sum.as<T>();
  run_inside(matmul, &sums.of_input, arena, s);
  if (sums.dense)
    run_inside(matmul, &sums.of_state, arena, s);
  else
    each(SparseDrive<T>{
        {a.offsets, a.columns, a.values, n, n, s.status()}, a.state.as<T>(), sum, a.next.size()});
  each(LeakyStep<T>{sum, a.state.as<T>(), a.next.as<T>(), T(a.leak), a.next.size()});
}

}  // namespace kolmo
