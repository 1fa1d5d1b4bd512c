#pragma once
#include "kolmo/ops/recurrent/gru_sequences/gru_sequences.hpp"
#include "kolmo/ops/recurrent/units.hpp"

namespace kolmo {

template <class T>
struct CopyItems {
  const T* from;
  T* to;
  std::int64_t count;
  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t i) const { to[i] = from[i]; }
};

/// The part of the gates that comes from the inputs of all steps. Every way of computing gru_forward begins
/// with it.
inline GateProduct input_product(Arena& arena, const GruForwardArgs& a) {
  return {arena, as_rows(a.x), a.weight_ih, a.bias_ih};
}

/// The workspace and the products of gru_forward, if it is computed step by step.
struct ForwardSteps {
  GateProduct u;
  Tensor state;
  StateProducts v;

  ForwardSteps(Arena& arena, const GruForwardArgs& a)
      : u(input_product(arena, a)),
        state(in_workspace(arena, as_rows(a.h))),
        v(arena, state, {a.weight_hh, a.bias_hh}, a.reset == GruReset::before) {}
  void lay(Arena& arena, const Site& site) const { u.lay(arena, site), v.lay(arena, site); }

 private:
  static Tensor in_workspace(Arena& arena, Tensor t) {
    t.data = arena.take<std::byte>(std::int64_t(t.bytes()));
    return t;
  }
};

/// Computes gru_forward step by step; each(f) calls f(i) for all items of f.
template <class T, class Each>
void forward_by_steps(const GruForwardArgs& a, Arena& arena, Stream& s, const Each& each) {
  const ForwardSteps w(arena, a);
  const std::int64_t n = a.h.dim(-1), steps = a.x.dim(-2), count = w.state.size();
  T* const state = w.state.as<T>();
  each(CopyItems<T>{a.h.as<T>(), state, count});
  if (steps) w.u.run(arena, s);
  for (std::int64_t t = 0; t < steps; ++t) {
    Arena scratch = arena;  // for this step only
    w.v.step<T>(GateInput<Compute<T>>{w.u.result<Compute<T>>() + t * 3 * n, steps * 3 * n}, state,
                a.states.as<T>() + t * n, steps * n, scratch, s, each);
  }
  if (a.last.given()) each(CopyItems<T>{state, a.last.as<T>(), count});
}

}  // namespace kolmo
