#pragma once
#include <array>
#include <cmath>

#include "kolmo/op/inside.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"
#include "kolmo/ops/nn/recurrent_cells/recurrent_cells.hpp"

namespace kolmo {

template <class C>
KOLMO_HD C logistic(C x) {
  return C(1) / (C(1) + std::exp(-x));
}

/// Rows `first` and on, `count` of them, of weights or of a bias.
inline Tensor rows_of(Tensor t, std::int64_t first, std::int64_t count) {
  if (!t.given()) return t;
  if (t.data) t.data = static_cast<std::byte*>(t.data) + std::size_t(first * t.stride[0]) * size_of(t.dtype);
  t.extent[0] = count;
  return t;
}

/// y = x W' + b for the flattened batch; y in the type in which gates are computed.
struct GateProduct {
  MatmulArgs args;

  GateProduct(Arena& arena, const Tensor& x, const Tensor& weights, const Tensor& bias) {
    const std::int64_t k = x.dim(-1), rows = batch(x), n = weights.dim(0);
    const DType type = x.dtype == DType::f64 ? DType::f64 : DType::f32;
    void* const memory = arena.take<std::byte>(rows * n * std::int64_t(size_of(type)));
    args = {.a = tensor(x.data, x.dtype, std::array{rows, k}, x.device),
            .b = weights,
            .bias = bias,
            .y = tensor(memory, type, std::array{rows, n}, x.device),
            .transpose_b = true,
            .output = type == x.dtype ? MatmulOutput::same : MatmulOutput::f32};
  }
  static std::int64_t batch(const Tensor& x) {
    std::int64_t n = 1;
    for (int d = 0; d < x.rank - 1; ++d) n *= x.dim(d);
    return n;
  }
  void lay(Arena& arena, const Site& site) const { lay_inside(matmul, &args, arena, site); }
  void run(Arena& arena, Stream& s) const { run_inside(matmul, &args, arena, s); }
  template <class C>
  const C* result() const {
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
    const auto sum = [&](int gate) { return u[first + gate * n] + v[first + gate * n]; };
    const C i = logistic(sum(0)), f = logistic(sum(1)), g = std::tanh(sum(2)), o = logistic(sum(3));
    const C next = f * C(c[at]) + i * g;
    c_next[at] = T(next), h_next[at] = T(o * std::tanh(next));
  }
};

/// r h, which is multiplied before the product with the weights of n.
template <class T>
struct ResetState {
  using C = Compute<T>;
  const C *u, *v;  ///< v of r and z alone
  const T* h;
  T* reset;
  std::int64_t n, count;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t at) const {
    const std::int64_t row = at / n, unit = at - row * n;
    reset[at] = T(logistic(u[row * 3 * n + unit] + v[row * 2 * n + unit]) * C(h[at]));
  }
};

template <class T>
struct GruUnit {
  using C = Compute<T>;
  const C *u, *v, *after_reset;  ///< the last null for reset after; else v is of r and z alone
  const T* h;
  T* h_next;
  std::int64_t n, count;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t at) const {
    const std::int64_t row = at / n, unit = at - row * n;
    const C *const own_u = u + row * 3 * n + unit, *const own_v = v + row * (after_reset ? 2 : 3) * n + unit;
    const C z = logistic(own_u[n] + own_v[n]);
    const C part = after_reset ? after_reset[at] : logistic(own_u[0] + own_v[0]) * own_v[2 * n];
    const C candidate = std::tanh(own_u[2 * n] + part);
    h_next[at] = T((C(1) - z) * candidate + z * C(h[at]));
  }
};

/// The matrix products of a cell, with their workspace.
struct LstmProducts {
  GateProduct u, v;
  LstmProducts(Arena& arena, const LstmCellArgs& a)
      : u(arena, a.x, a.weight_ih, a.bias_ih), v(arena, a.h, a.weight_hh, a.bias_hh) {}
  void lay(Arena& arena, const Site& site) const { u.lay(arena, site), v.lay(arena, site); }
};
struct GruProducts {
  bool before;
  std::int64_t n;
  GateProduct u, v;
  Tensor reset;
  GateProduct candidate;  ///< of reset before; else of no row

  GruProducts(Arena& arena, const GruCellArgs& a)
      : before(a.reset == GruReset::before),
        n(a.h.dim(-1)),
        u(arena, a.x, a.weight_ih, a.bias_ih),
        v(arena, a.h, rows_of(a.weight_hh, 0, before ? 2 * n : 3 * n),
          rows_of(a.bias_hh, 0, before ? 2 * n : 3 * n)),
        reset(tensor(arena.take<std::byte>(before ? std::int64_t(a.h.bytes()) : 0), a.h.dtype, a.h.shape(),
                     a.h.device)),
        candidate(arena, reset, rows_of(a.weight_hh, 2 * n, before ? n : 0),
                  rows_of(a.bias_hh, 2 * n, before ? n : 0)) {}
  void lay(Arena& arena, const Site& site) const {
    u.lay(arena, site), v.lay(arena, site);
    if (before) candidate.lay(arena, site);
  }
};

/// each(f) calls f(i) for all its items.
template <class T, class Each>
void lstm_step(const LstmCellArgs& a, Arena& arena, Stream& s, const Each& each) {
  using C = Compute<T>;
  const LstmProducts products(arena, a);
  products.u.run(arena, s), products.v.run(arena, s);
  each(LstmUnit<T>{products.u.result<C>(), products.v.result<C>(), a.c.as<T>(), a.h_next.as<T>(),
                   a.c_next.as<T>(), a.h.dim(-1), a.h.size()});
}
template <class T, class Each>
void gru_step(const GruCellArgs& a, Arena& arena, Stream& s, const Each& each) {
  using C = Compute<T>;
  const GruProducts p(arena, a);
  const C *const u = p.u.result<C>(), *const v = p.v.result<C>();
  p.u.run(arena, s), p.v.run(arena, s);
  if (p.before) {
    each(ResetState<T>{u, v, a.h.as<T>(), p.reset.as<T>(), p.n, a.h.size()});
    p.candidate.run(arena, s);
  }
  each(GruUnit<T>{u, v, p.before ? p.candidate.result<C>() : nullptr, a.h.as<T>(), a.h_next.as<T>(), p.n,
                  a.h.size()});
}

}  // namespace kolmo
