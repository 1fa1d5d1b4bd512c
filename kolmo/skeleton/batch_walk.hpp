#pragma once
#include "kolmo/skeleton/walk.hpp"

namespace kolmo {

/// Drops the last `inner` dimensions of a tensor: one element is left for each matrix of a batch.
inline Tensor leading(Tensor t, int inner) {
  t.rank -= inner;
  return t;
}

/// Finds where the matrices of a batch begin in N tensors, which broadcast to the batch of `out`. A matrix is
/// the last `inner` dimensions of a tensor, and the last `out_inner` of `out`.
template <int N>
Walk<N> batch_walk(const Tensor& out, int out_inner, const Tensor* const (&in)[N], int inner) {
  Tensor of[N];
  const Tensor* places[N];
  for (int t = 0; t < N; ++t) of[t] = leading(*in[t], inner), places[t] = &of[t];
  return walk_of<N>(leading(out, out_inner), places);
}

}  // namespace kolmo
