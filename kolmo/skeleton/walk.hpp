#pragma once
#include "kolmo/base/quotient.hpp"
#include "kolmo/base/tensor.hpp"

namespace kolmo {

/// Iterates over N tensors together with the elements of an output in row-major order. Neighbouring
/// dimensions of the output are merged if every tensor allows it. A tensor's step is 0 along dimensions in
/// which it is broadcast.
template <int N>
struct Walk {
  int rank = 0;
  std::int64_t extent[max_rank] = {};
  std::int64_t step[N][max_rank] = {};

  /// Whether every tensor is contiguous like the output, so that one step of 1 walks them all.
  bool plain() const {
    if (rank > 1) return false;
    for (int t = 0; t < N; ++t)
      if (rank == 1 && extent[0] != 1 && step[t][0] != 1) return false;
    return true;
  }
  /// Sets `place` to the offset in each tensor for element i of the output.
  KOLMO_HD void at(std::int64_t i, std::int64_t (&place)[N]) const {
    for (int t = 0; t < N; ++t) place[t] = 0;
    for (int d = rank - 1; d >= 0; --d) {
      const std::int64_t rest = quotient(i, extent[d]), index = i - rest * extent[d];
      for (int t = 0; t < N; ++t) place[t] += index * step[t][d];
      i = rest;
    }
  }
};

/// The walk of tensors whose shapes broadcast to that of `out`, which is contiguous.
template <int N>
Walk<N> walk_of(const Tensor& out, const Tensor* const (&in)[N]) {
  Walk<N> w;
  for (int d = 0; d < out.rank; ++d) {
    std::int64_t step[N];
    for (int t = 0; t < N; ++t) {
      const int own = d - (out.rank - in[t]->rank);
      step[t] = own < 0 || in[t]->dim(own) == 1 ? 0 : in[t]->stride[std::size_t(own)];
    }
    const std::int64_t extent = out.dim(d);
    if (extent == 1) continue;
    bool merges = w.rank > 0;
    for (int t = 0; t < N; ++t) merges = merges && w.step[t][w.rank - 1] == extent * step[t];
    if (!merges) ++w.rank, w.extent[w.rank - 1] = 1;
    w.extent[w.rank - 1] *= extent;
    for (int t = 0; t < N; ++t) w.step[t][w.rank - 1] = step[t];
  }
  return w;
}

}  // namespace kolmo
