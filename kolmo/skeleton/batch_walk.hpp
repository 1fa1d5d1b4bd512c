#pragma once
#include "kolmo/skeleton/walk.hpp"

namespace kolmo {

/// A tensor without its last `inner` dimensions: one element for each matrix of a batch.
inline Tensor leading(Tensor t, int inner) {
  t.rank -= inner;
  return t;
}

/// Where the matrices (the last `inner` dimensions of each) of N tensors begin that broadcast to the batch of
/// `out`, whose items have `out_inner` dimensions.
template <int N>
Walk<N> batch_walk(const Tensor& out, int out_inner, const Tensor* const (&in)[N], int inner) {
  Tensor of[N];
  const Tensor* places[N];
  for (int t = 0; t < N; ++t) of[t] = leading(*in[t], inner), places[t] = &of[t];
  return walk_of<N>(leading(out, out_inner), places);
}

}  // namespace kolmo
