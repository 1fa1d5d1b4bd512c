#pragma once
// What cells of recurrent networks and sequences of them have in common: products of the gates, and the units that make
// of them a state.
#include <array>
#include <cmath>

#include "kolmo/op/inside.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"

namespace kolmo {

template <class C>
KOLMO_HD C gate(C x) {
  return C(1) / (C(1) + std::exp(-x));
}

/// Rows [first, first + count) of weights or of a bias.
inline Tensor gate_rows(Tensor t, std::int64_t first, std::int64_t count) {
  if (!t.given()) return t;
  if (t.data) t.data = static_cast<std::byte*>(t.data) + std::size_t(first * t.stride[0]) * size_of(t.dtype);
  t.extent[0] = count;
  return t;
}
/// A contiguous tensor as rows: all leading dimensions are one.
inline Tensor as_rows(const Tensor& x) {
  std::int64_t rows = 1;
  for (int d = 0; d < x.rank - 1; ++d) rows *= x.dim(d);
  return tensor(x.data, x.dtype, std::array{rows, x.dim(-1)}, x.device);
}

/// y = x W' + bias for matrices, or for batches of them; y in the type in which gates are computed.
struct GateProduct {
  MatmulArgs args;

  GateProduct(Arena& arena, const Tensor& x, const Tensor& weights, const Tensor& bias) {
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

template <class T>
struct LstmUnit {
  using C = Compute<T>;
  const C *u, *v;
  const T* c;
  T *h_next, *c_next;
  std::int64_t n, count;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t at) const {
    const std::int64_t row = at / n, first = row * 4 * n + (at - row * n);
    const auto sum = [&](int which) { return u[first + which * n] + v[first + which * n]; };
    put(at, sum(0), sum(1), sum(2), sum(3));
  }
  /// Of the arguments of the gates.
  KOLMO_HD void put(std::int64_t at, C i, C f, C g, C o) const {
    const C next = gate(f) * C(c[at]) + gate(i) * std::tanh(g);
    c_next[at] = T(next), h_next[at] = T(gate(o) * std::tanh(next));
  }
};

/// The state of a GRU after `old`, of the gate z and the argument of the candidate.
template <class C>
KOLMO_HD C gru_state(C z, C candidate, C old) {
  return (C(1) - z) * std::tanh(candidate) + z * old;
}

/// The part of the gates that does not depend on h. at(row, i, n) is its row from unit i on.
template <class C>
struct GateInput {
  const C* u;
  std::int64_t stride;

  struct Row {
    const C* u;
    KOLMO_HD C operator()(std::int64_t i) const { return u[i]; }
    KOLMO_HD C of_state(std::int64_t, C v) const { return v; }
  };
  KOLMO_HD Row at(std::int64_t row, std::int64_t unit, std::int64_t) const {
    return {u + row * stride + unit};
  }
};
/// The same of an ensemble that is fed its losses: u + slope L, and a bias of the part of h if it is not null. Rows of a
/// member have its slope and bias.
template <class C>
struct MemberInput {
  const C* u;
  std::int64_t stride;
  const C *slope, *loss, *bias;
  std::int64_t member_rows;

  struct Row {
    const C *u, *slope, *bias;
    C loss;
    KOLMO_HD C operator()(std::int64_t i) const { return u[i] + slope[i] * loss; }
    KOLMO_HD C of_state(std::int64_t i, C v) const { return bias ? v + bias[i] : v; }
  };
  KOLMO_HD Row at(std::int64_t row, std::int64_t unit, std::int64_t n) const {
    const std::int64_t of_member = row / member_rows * 3 * n + unit;
    return {u + row * stride + unit, slope + of_member, bias ? bias + of_member : nullptr, loss[row]};
  }
};

/// r h, which is multiplied before the product with the weights of n.
template <class T, template <class> class Input>
struct ResetRows {
  using C = Compute<T>;
  Input<C> in;
  const C* v;  ///< of r and z
  const T* state;
  T* reset;
  std::int64_t n, count;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t at) const {
    const std::int64_t row = at / n, i = at - row * n;
    const auto u = in.at(row, i, n);
    reset[at] = T(gate(u(0) + u.of_state(0, v[row * 2 * n + i])) * C(state[at]));
  }
};

/// The next state, which may be `state`, and a copy of it where rows are `stride` apart.
template <class T, template <class> class Input>
struct UnitRows {
  using C = Compute<T>;
  Input<C> in;
  const C *v, *candidate;  ///< the last null for reset after; else v is of r and z alone
  const T* state;
  T *next, *copy;
  std::int64_t stride, n, count;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t at) const {
    const std::int64_t row = at / n, i = at - row * n;
    const auto u = in.at(row, i, n);
    const C* const own = v + row * (candidate ? 2 : 3) * n + i;
    const C z = gate(u(n) + u.of_state(n, own[n]));
    const C part = candidate ? u.of_state(2 * n, candidate[at])
                             : gate(u(0) + u.of_state(0, own[0])) * u.of_state(2 * n, own[2 * n]);
    const T value = T(gru_state(z, u(2 * n) + part, C(state[at])));
    next[at] = value;
    if (copy) copy[row * stride + i] = value;
  }
};

/// The part of h in a step: its products, of weights parted into those of r and z (for reset after: of all gates) and
/// those of n, and r h. Rows of `state` are those of the input.
struct StateProducts {
  bool before;
  Tensor state;
  GateProduct v;
  Tensor reset;
  GateProduct candidate;  ///< for reset after: of no row

  struct Weights {
    Tensor weights, bias;
  };
  StateProducts(Arena& arena, const Tensor& h, const Weights& gates, const Weights& of_n, bool reset_before)
      : before(reset_before),
        state(h),
        v(arena, h, gates.weights, gates.bias),
        reset(reset_of(arena, h, before)),
        candidate(arena, reset, of_n.weights, of_n.bias) {}
  /// Of the weights and biases of all gates, in one matrix.
  StateProducts(Arena& arena, const Tensor& h, const Weights& all, bool reset_before)
      : StateProducts(arena, h, part(all, 0, (reset_before ? 2 : 3) * h.dim(-1)),
                      part(all, 2 * h.dim(-1), reset_before ? h.dim(-1) : 0), reset_before) {}

  void lay(Arena& arena, const Site& site) const {
    v.lay(arena, site);
    if (before) candidate.lay(arena, site);
  }
  /// The step, to `next` and `copy` of UnitRows. each(f) calls f(i) for all its items.
  template <class T, template <class> class Input, class Each>
  void step(const Input<Compute<T>>& in, T* next, T* copy, std::int64_t stride, Arena& arena, Stream& s,
            const Each& each) const {
    using C = Compute<T>;
    const std::int64_t n = state.dim(-1), count = state.size();
    const T* const h = state.as<T>();
    v.run(arena, s);
    if (before) {
      each(ResetRows<T, Input>{in, v.result<C>(), h, reset.as<T>(), n, count});
      candidate.run(arena, s);
    }
    each(UnitRows<T, Input>{in, v.result<C>(), before ? candidate.result<C>() : nullptr, h, next, copy,
                            stride, n, count});
  }

 private:
  static Weights part(const Weights& w, std::int64_t first, std::int64_t count) {
    return {gate_rows(w.weights, first, count), gate_rows(w.bias, first, count)};
  }
  static Tensor reset_of(Arena& arena, Tensor h, bool before) {
    if (!before) h.extent[std::size_t(h.rank - 2)] = 0;
    h = tensor(nullptr, h.dtype, h.shape(), h.device);
    h.data = arena.take<std::byte>(std::int64_t(h.bytes()));
    return h;
  }
};

}  // namespace kolmo
