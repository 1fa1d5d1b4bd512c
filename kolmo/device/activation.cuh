#pragma once
// Anonymous namespace: see device/grid.cuh.
#include "kolmo/base/activation.hpp"
#include "kolmo/base/pack.hpp"

namespace kolmo::cuda {
namespace {

/// The activation of each element. Not inlined: the error function would make up most of a kernel.
template <class C, int W>
[[gnu::noinline]] __device__ Pack<C, W> activated(Activation f, Pack<C, W> x) {
#pragma unroll
  for (int w = 0; w < W; ++w) x.value[w] = activate(f, x.value[w]);
  return x;
}

}  // namespace
}  // namespace kolmo::cuda
