#pragma once
#include <type_traits>

#include "kolmo/ops/recurrent/gru_backward/gru_backward.hpp"
#include "kolmo/ops/recurrent/units.hpp"

namespace kolmo {

/// Writes the state before each step. A row is a step of a sequence.
template <class T>
struct StatesBefore {
  const T *h, *states;
  T* before;
  std::int64_t steps, n, count;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t at) const {
    const std::int64_t row = at / n;
    before[at] = row % steps ? states[at - n] : h[row / steps * n + at % n];
  }
};
/// Writes what follows the last step: `from`, or 0 if it is null.
template <class T>
struct StartGradient {
  const T* from;
  T* to;
  std::int64_t count;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t i) const { to[i] = from ? from[i] : T(0); }
};
/// Writes r h of every row, which the weights of n multiply if the reset comes before the product.
template <class T>
struct ResetStates {
  const T *u, *v, *before;
  T* reset;
  std::int64_t n, count;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t at) const {
    const std::int64_t row = at / n, i = at % n;
    reset[at] = gate(u[row * 3 * n + i] + v[row * 2 * n + i]) * before[at];
  }
};

/// Gradients of the gates' arguments: r and z have the same for the parts of x and h, n has two. `rz`, `nx`
/// and `nh` have all rows; `step_rz` and `step_nh` hold those of the current step of all sequences.
template <class T>
struct GateGradients {
  T *rz, *nx, *nh, *step_rz, *step_nh;
};
/// Back-propagates through the units of step t. `carry` holds the gradient of the state after the step and
/// receives the part of the gradient of the state before it that takes no matrix product.
template <class T>
struct UnitGradients {
  /// `candidate` is null if the reset comes after the product; otherwise `v` holds the gates r and z alone.
  const T *u, *v, *candidate, *before, *grad_states;
  GateGradients<T> to;
  T* carry;
  std::int64_t t, steps, n, count;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t at) const {
    const std::int64_t sequence = at / n, i = at % n, row = sequence * steps + t, unit = row * n + i;
    const T* const x = u + row * 3 * n + i;
    const T* const h = v + row * (candidate ? 2 : 3) * n + i;
    const T z = gate(x[n] + h[n]), r = candidate ? T(0) : gate(x[0] + h[0]);
    const T value = std::tanh(x[2 * n] + (candidate ? candidate[unit] : r * h[2 * n]));
    const T grad = grad_states[unit] + carry[at];
    const T of_n = grad * (1 - z) * (1 - value * value), of_z = grad * (before[unit] - value) * z * (1 - z);
    carry[at] = grad * z;
    to.nx[unit] = of_n;
    to.nh[unit] = to.step_nh[at] = candidate ? of_n : of_n * r;
    to.rz[row * 2 * n + n + i] = to.step_rz[sequence * 2 * n + n + i] = of_z;
    if (!candidate) to.rz[row * 2 * n + i] = to.step_rz[sequence * 2 * n + i] = of_n * h[2 * n] * r * (1 - r);
  }
};
/// Back-propagates through r h, whose gradient is `grad_reset`, if the reset comes before the product.
template <class T>
struct ResetGradients {
  const T *u, *v, *before, *grad_reset;
  GateGradients<T> to;
  T* carry;
  std::int64_t t, steps, n, count;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t at) const {
    const std::int64_t sequence = at / n, i = at % n, row = sequence * steps + t;
    const T r = gate(u[row * 3 * n + i] + v[row * 2 * n + i]);
    carry[at] += grad_reset[at] * r;
    to.rz[row * 2 * n + i] = to.step_rz[sequence * 2 * n + i] =
        grad_reset[at] * before[row * n + i] * r * (1 - r);
  }
};
/// Sums columns over all rows: of `rz` for the gates r and z, of `of_n` for n.
template <class T>
struct BiasGradients {
  const T *rz, *of_n;
  T* sum;
  std::int64_t rows, n;

  std::int64_t items() const { return 3 * n; }
  KOLMO_HD void operator()(std::int64_t g) const {
    const bool last = g >= 2 * n;
    T total = 0;
    for (std::int64_t row = 0; row < rows; ++row)
      total += last ? of_n[row * n + g - 2 * n] : rz[row * 2 * n + g];
    sum[g] = total;
  }
};

/// The workspace and the products of gru_backward.
struct BackwardSteps {
  std::int64_t n, steps, sequences, rows;
  bool reset_before;
  Tensor before, reset, rz, nx, nh, step_rz, step_nh, grad_reset;
  GateProduct u, v, candidate;
  MatmulArgs from_rz, from_nh, x_from_rz, x_from_nx, ih_rz, ih_n, hh_rz, hh_n;

  BackwardSteps(Arena& arena, const GruBackwardArgs& a)
      : n(a.h.dim(-1)),
        steps(a.x.dim(-2)),
        sequences(as_rows(a.h).dim(0)),
        rows(sequences * steps),
        reset_before(a.reset == GruReset::before),
        before(matrix(arena, a, rows, n)),
        reset(matrix(arena, a, reset_before ? rows : 0, n)),
        rz(matrix(arena, a, rows, 2 * n)),
        nx(matrix(arena, a, rows, n)),
        nh(reset_before ? nx : matrix(arena, a, rows, n)),
        step_rz(matrix(arena, a, sequences, 2 * n)),
        step_nh(matrix(arena, a, sequences, n)),
        grad_reset(matrix(arena, a, reset_before ? sequences : 0, n)),
        u(arena, as_rows(a.x), a.weight_ih, a.bias_ih),
        v(arena, before, gate_rows(a.weight_hh, 0, (reset_before ? 2 : 3) * n),
          gate_rows(a.bias_hh, 0, (reset_before ? 2 : 3) * n)),
        candidate(arena, reset, gate_rows(a.weight_hh, 2 * n, n), gate_rows(a.bias_hh, 2 * n, n)) {
    const Tensor carry = as_rows(a.grad_h), x = as_rows(a.x), grad_x = as_rows(a.grad_x);
    const auto of_rz = [&](const Tensor& w) { return gate_rows(w, 0, 2 * n); };
    const auto of_n = [&](const Tensor& w) { return gate_rows(w, 2 * n, n); };
    from_rz = {.a = step_rz, .b = of_rz(a.weight_hh), .c = carry, .y = carry};
    from_nh = {.a = step_nh, .b = of_n(a.weight_hh), .y = grad_reset};
    if (!reset_before) from_nh.c = from_nh.y = carry;
    x_from_rz = {.a = rz, .b = of_rz(a.weight_ih), .y = grad_x};
    x_from_nx = {.a = nx, .b = of_n(a.weight_ih), .c = grad_x, .y = grad_x};
    ih_rz = {.a = rz, .b = x, .y = of_rz(a.grad_weight_ih), .transpose_a = true};
    ih_n = {.a = nx, .b = x, .y = of_n(a.grad_weight_ih), .transpose_a = true};
    hh_rz = {.a = rz, .b = before, .y = of_rz(a.grad_weight_hh), .transpose_a = true};
    hh_n = {.a = nh, .b = reset_before ? reset : before, .y = of_n(a.grad_weight_hh), .transpose_a = true};
  }
  void lay(Arena& arena, const Site& site) const {
    u.lay(arena, site), v.lay(arena, site), candidate.lay(arena, site);
    for (const MatmulArgs* p : {&from_rz, &from_nh, &x_from_rz, &x_from_nx, &ih_rz, &ih_n, &hh_rz, &hh_n})
      lay_inside(matmul, p, arena, site);
  }

  /// Computes the gradients; each(f) calls f(i) for all items of f.
  template <class T, class Each>
  void run(const GruBackwardArgs& a, Arena& arena, Stream& s, const Each& each) const {
    const auto product = [&](const MatmulArgs& p) {
      if (!p.y.size()) return;
      Arena scratch = arena;
      run_inside(matmul, &p, scratch, s);
    };
    T* const carry = a.grad_h.as<T>();
    each(StartGradient<T>{a.grad_last.given() ? a.grad_last.as<T>() : nullptr, carry, sequences * n});
    if (rows) gates<T>(a, product, each);
    const GateGradients<T> to{rz.as<T>(), nx.as<T>(), nh.as<T>(), step_rz.as<T>(), step_nh.as<T>()};
    const T *const x_part = u.result<T>(), *const h_part = v.result<T>();
    for (std::int64_t t = steps; t-- > 0;) {
      each(UnitGradients<T>{x_part, h_part, reset_before ? candidate.result<T>() : nullptr, before.as<T>(),
                            a.grad_states.as<T>(), to, carry, t, steps, n, sequences * n});
      product(from_nh);
      if (reset_before)
        each(ResetGradients<T>{x_part, h_part, before.as<T>(), grad_reset.as<T>(), to, carry, t, steps, n,
                               sequences * n});
      product(from_rz);
    }
    for (const MatmulArgs* p : {&x_from_rz, &x_from_nx, &ih_rz, &ih_n, &hh_rz, &hh_n}) product(*p);
    if (a.grad_bias_ih.given()) each(BiasGradients<T>{to.rz, to.nx, a.grad_bias_ih.as<T>(), rows, n});
    if (a.grad_bias_hh.given()) each(BiasGradients<T>{to.rz, to.nh, a.grad_bias_hh.as<T>(), rows, n});
  }

 private:
  /// Computes the arguments of the gates of all steps, which the saved states make independent of each other.
  template <class T, class Product, class Each>
  void gates(const GruBackwardArgs& a, const Product& product, const Each& each) const {
    each(StatesBefore<T>{a.h.as<T>(), a.states.as<T>(), before.as<T>(), steps, n, rows * n});
    product(u.args), product(v.args);
    if (!reset_before) return;
    each(ResetStates<T>{u.result<T>(), v.result<T>(), before.as<T>(), reset.as<T>(), n, rows * n});
    product(candidate.args);
  }
  static Tensor matrix(Arena& arena, const GruBackwardArgs& a, std::int64_t m, std::int64_t columns) {
    Tensor t = tensor(nullptr, a.h.dtype, std::array{m, columns}, a.h.device);
    t.data = arena.take<std::byte>(std::int64_t(t.bytes()));
    return t;
  }
};

}  // namespace kolmo
