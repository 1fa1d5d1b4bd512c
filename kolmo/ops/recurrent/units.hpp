#pragma once
// What cells of recurrent networks, and sequences of such cells, have in common: the matrix products of the
// gates, and the units that compute the next state from them.
#include <array>
#include <cmath>

#include "kolmo/op/inside.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"

namespace kolmo {

template <class C>
KOLMO_HD C gate(C x) {
  return C(1) / (C(1) + std::exp(-x));
}

/// Selects the rows [first, first + count) of weights or of a bias.
inline Tensor gate_rows(Tensor t, std::int64_t first, std::int64_t count) {
  if (!t.given()) return t;
  if (t.data) t.data = static_cast<std::byte*>(t.data) + std::size_t(first * t.stride[0]) * size_of(t.dtype);
  t.extent[0] = count;
  return t;
}
/// Views a contiguous tensor as a matrix: all leading dimensions become one.
inline Tensor as_rows(const Tensor& x) {
  std::int64_t rows = 1;
  for (int d = 0; d < x.rank - 1; ++d) rows *= x.dim(d);
  return tensor(x.data, x.dtype, std::array{rows, x.dim(-1)}, x.device);
}

/// Computes y = x W' + bias for matrices, or for batches of them. y has the type in which gates are computed:
/// f64 for f64, f32 for all others.
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
  /// Computes the next states of a unit from the arguments of its four gates.
  KOLMO_HD void put(std::int64_t at, C i, C f, C g, C o) const {
    const C next = gate(f) * C(c[at]) + gate(i) * std::tanh(g);
    c_next[at] = T(next), h_next[at] = T(gate(o) * std::tanh(next));
  }
};

/// The next state of a GRU, from the gate z, the argument of the candidate and the old state.
template <class C>
KOLMO_HD C gru_state(C z, C candidate, C old) {
  return (C(1) - z) * std::tanh(candidate) + z * old;
}

/// The part of the gates' arguments that does not depend on h. at(row, i, n) gives access to a row from unit
/// i on.
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
/// The part u of an ensemble whose members also receive their losses: u + slope L. If `bias` is not null, it
/// is added to the part that depends on h. All rows of a member have its slope and bias.
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

/// Computes r h. If the reset comes before the product, this is multiplied by the weights of gate n.
template <class T, template <class> class Input>
struct ResetRows {
  using C = Compute<T>;
  Input<C> in;
  const C* v;  ///< the products of h for the gates r and z
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

/// Computes the next state, which may overwrite `state`. If `copy` is not null, writes the state there too,
/// in rows that are `stride` apart.
template <class T, template <class> class Input>
struct UnitRows {
  using C = Compute<T>;
  Input<C> in;
  /// `candidate` is null if the reset comes after the product; otherwise `v` holds the gates r and z alone.
  const C *v, *candidate;
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

/// The part of a step that depends on h. Its matrix products use the weights in two pieces: those of r and z
/// (of all gates, if the reset comes after the product) and those of n, which are multiplied by r h. The rows
/// of `state` are those of the input.
struct StateProducts {
  bool before;
  Tensor state;
  GateProduct v;
  Tensor reset;
  /// Has no rows if the reset comes after the product.
  GateProduct candidate;

  struct Weights {
    Tensor weights, bias;
  };
  StateProducts(Arena& arena, const Tensor& h, const Weights& gates, const Weights& of_n, bool reset_before)
      : before(reset_before),
        state(h),
        v(arena, h, gates.weights, gates.bias),
        reset(reset_of(arena, h, before)),
        candidate(arena, reset, of_n.weights, of_n.bias) {}
  /// Takes the weights and biases of all gates in one matrix.
  StateProducts(Arena& arena, const Tensor& h, const Weights& all, bool reset_before)
      : StateProducts(arena, h, part(all, 0, (reset_before ? 2 : 3) * h.dim(-1)),
                      part(all, 2 * h.dim(-1), reset_before ? h.dim(-1) : 0), reset_before) {}

  void lay(Arena& arena, const Site& site) const {
    v.lay(arena, site);
    if (before) candidate.lay(arena, site);
  }
  /// Computes the step. The state is written to `next` and `copy`, as in UnitRows. each(f) calls f(i) for all
  /// items of f.
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
