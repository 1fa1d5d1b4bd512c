#pragma once
#include <array>
#include <cmath>

#include "kolmo/op/inside.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"
#include "kolmo/ops/nn/gru_sequences/gru_sequences.hpp"

namespace kolmo {

template <class C>
KOLMO_HD C gate(C x) {
  return C(1) / (C(1) + std::exp(-x));
}

/// y = x W' + bias for matrices, or for batches of them; y in the type in which gates are computed.
struct StepProduct {
  MatmulArgs args;

  StepProduct(Arena& arena, const Tensor& x, const Tensor& weights, const Tensor& bias) {
    const DType type = x.dtype == DType::f64 ? DType::f64 : DType::f32;
    Tensor y = x;
    y.dtype = type, y.extent[std::size_t(x.rank - 1)] = weights.dim(-2);
    y = tensor(nullptr, type, y.shape(), x.device);
    y.data = arena.take<std::byte>(std::int64_t(y.bytes()));
    args = {.a = x,
            .b = weights,
            .bias = bias,
            .y = y,
            .transpose_b = true,
            .output = type == x.dtype ? MatmulOutput::same : MatmulOutput::f32};
  }
  void lay(Arena& arena, const Site& site) const { lay_inside(matmul, &args, arena, site); }
  void run(Arena& arena, Stream& s) const { run_inside(matmul, &args, arena, s); }
  template <class C>
  C* result() const {
    return args.y.as<C>();
  }
};

/// The part of the gates that does not depend on h: u + slope L of each row, and a bias of the part of h. Rows of a
/// member have its slope and bias.
template <class C>
struct GateInput {
  const C* u;
  std::int64_t stride;
  const C *slope = nullptr, *loss = nullptr, *bias = nullptr;
  std::int64_t member_rows = 1;
};
/// A row of it.
template <class C>
struct GateInputRow {
  const C *u, *slope, *bias;
  C loss;

  KOLMO_HD GateInputRow(const GateInput<C>& in, std::int64_t row, std::int64_t n)
      : u(in.u + row * in.stride),
        slope(in.slope ? in.slope + row / in.member_rows * 3 * n : nullptr),
        bias(in.bias ? in.bias + row / in.member_rows * 3 * n : nullptr),
        loss(in.loss ? in.loss[row] : C(0)) {}
  KOLMO_HD C operator()(std::int64_t i) const { return slope ? u[i] + slope[i] * loss : u[i]; }
  KOLMO_HD C of_state(std::int64_t i, C v) const { return bias ? v + bias[i] : v; }
};

/// r h, which is multiplied before the product with the weights of n.
template <class T>
struct ResetRows {
  using C = Compute<T>;
  GateInput<C> in;
  const C* v;  ///< of r and z
  const T* state;
  T* reset;
  std::int64_t n, count;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t at) const {
    const std::int64_t row = at / n, i = at - row * n;
    const GateInputRow<C> u(in, row, n);
    reset[at] = T(gate(u(i) + u.of_state(i, v[row * 2 * n + i])) * C(state[at]));
  }
};

/// The next state, in place, and a copy of it where rows are `stride` apart.
template <class T>
struct UnitRows {
  using C = Compute<T>;
  GateInput<C> in;
  const C *v, *candidate;  ///< the last null for reset after; else v is of r and z alone
  T *state, *copy;
  std::int64_t stride, n, count;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t at) const {
    const std::int64_t row = at / n, i = at - row * n;
    const GateInputRow<C> u(in, row, n);
    const C* const own = v + row * (candidate ? 2 : 3) * n + i;
    const C z = gate(u(n + i) + u.of_state(n + i, own[n]));
    const C part = candidate ? u.of_state(2 * n + i, candidate[at])
                             : gate(u(i) + u.of_state(i, own[0])) * u.of_state(2 * n + i, own[2 * n]);
    state[at] = T((C(1) - z) * std::tanh(u(2 * n + i) + part) + z * C(state[at]));
    if (copy) copy[row * stride + i] = state[at];
  }
};

template <class T>
struct CopyItems {
  const T* from;
  T* to;
  std::int64_t count;
  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t i) const { to[i] = from[i]; }
};

/// Rows [first, first + count) of weights or of a bias.
inline Tensor gate_rows(Tensor t, std::int64_t first, std::int64_t count) {
  if (!t.given()) return t;
  if (t.data) t.data = static_cast<std::byte*>(t.data) + std::size_t(first * t.stride[0]) * size_of(t.dtype);
  t.extent[0] = count;
  return t;
}

/// gru_forward step by step: workspace and products.
struct ForwardSteps {
  bool before;
  std::int64_t n, steps, batch;
  StepProduct u;
  Tensor state;
  StepProduct v;
  Tensor reset;
  StepProduct candidate;

  ForwardSteps(Arena& arena, const GruForwardArgs& a)
      : before(a.reset == GruReset::before),
        n(a.h.dim(-1)),
        steps(a.x.dim(-2)),
        batch(n ? a.h.size() / n : 0),
        u(arena, rows_of_steps(a), a.weight_ih, a.bias_ih),
        state(buffer(arena, a, batch)),
        v(arena, state, gate_rows(a.weight_hh, 0, before ? 2 * n : 3 * n),
          gate_rows(a.bias_hh, 0, before ? 2 * n : 3 * n)),
        reset(buffer(arena, a, before ? batch : 0)),
        candidate(arena, reset, gate_rows(a.weight_hh, 2 * n, before ? n : 0),
                  gate_rows(a.bias_hh, 2 * n, before ? n : 0)) {}
  void lay(Arena& arena, const Site& site) const {
    u.lay(arena, site), v.lay(arena, site);
    if (before) candidate.lay(arena, site);
  }
  static Tensor rows_of_steps(const GruForwardArgs& a) {
    const std::int64_t k = a.x.dim(-1), n = a.h.dim(-1);
    return tensor(a.x.data, a.x.dtype, std::array{n ? a.h.size() / n * a.x.dim(-2) : 0, k}, a.x.device);
  }

 private:
  Tensor buffer(Arena& arena, const GruForwardArgs& a, std::int64_t rows) const {
    void* const memory = arena.take<std::byte>(rows * n * std::int64_t(size_of(a.h.dtype)));
    return tensor(memory, a.h.dtype, std::array{rows, n}, a.h.device);
  }
};

/// each(f) calls f(i) for all its items.
template <class T, class Each>
void forward_by_steps(const GruForwardArgs& a, Arena& arena, Stream& s, const Each& each) {
  using C = Compute<T>;
  const ForwardSteps w(arena, a);
  const std::int64_t count = w.batch * w.n;
  T *const state = w.state.as<T>(), *const reset = w.reset.as<T>();
  const C* const v = w.v.result<C>();
  each(CopyItems<T>{a.h.as<T>(), state, count});
  if (w.steps) w.u.run(arena, s);
  for (std::int64_t t = 0; t < w.steps; ++t) {
    const GateInput<C> in{w.u.result<C>() + t * 3 * w.n, w.steps * 3 * w.n};
    Arena scratch = arena;  // of this step
    w.v.run(scratch, s);
    if (w.before) {
      each(ResetRows<T>{in, v, state, reset, w.n, count});
      w.candidate.run(scratch, s);
    }
    each(UnitRows<T>{in, v, w.before ? w.candidate.result<C>() : nullptr, state, a.states.as<T>() + t * w.n,
                     w.steps * w.n, w.n, count});
  }
  if (a.last.given()) each(CopyItems<T>{state, a.last.as<T>(), count});
}

}  // namespace kolmo
