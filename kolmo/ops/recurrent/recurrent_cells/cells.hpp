#pragma once
#include "kolmo/ops/recurrent/recurrent_cells/recurrent_cells.hpp"
#include "kolmo/ops/recurrent/units.hpp"

namespace kolmo {

/// The matrix products of a cell, with their workspace.
struct LstmProducts {
  GateProduct u, v;
  LstmProducts(Arena& arena, const LstmCellArgs& a)
      : u(arena, as_rows(a.x), a.weight_ih, a.bias_ih), v(arena, as_rows(a.h), a.weight_hh, a.bias_hh) {}
  void lay(Arena& arena, const Site& site) const { u.lay(arena, site), v.lay(arena, site); }
};
struct GruProducts {
  GateProduct u;
  StateProducts v;
  GruProducts(Arena& arena, const GruCellArgs& a)
      : u(arena, as_rows(a.x), a.weight_ih, a.bias_ih),
        v(arena, as_rows(a.h), {a.weight_hh, a.bias_hh}, a.reset == GruReset::before) {}
  void lay(Arena& arena, const Site& site) const { u.lay(arena, site), v.lay(arena, site); }
};

/// Computes the operator; each(f) calls f(i) for all items of f.
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
  const GruProducts products(arena, a);
  products.u.run(arena, s);
  products.v.step<T>(GateInput<Compute<T>>{products.u.result<Compute<T>>(), 3 * a.h.dim(-1)},
                     a.h_next.as<T>(), nullptr, 0, arena, s, each);
}

}  // namespace kolmo
