#pragma once
#include "kolmo/base/activation.hpp"
#include "kolmo/base/pack.hpp"

namespace kolmo::cuda {
namespace {

/// Applies the activation to each element. The function is not inlined, because the error function would make
/// up most of a kernel.
template <class C, int W>
[[gnu::noinline]] __device__ Pack<C, W> activated(Activation f, Pack<C, W> x) {
  const auto all = [&]<Activation F> {
#pragma unroll
    for (int w = 0; w < W; ++w) x.value[w] = activate(F, x.value[w]);
  };
  if (f == Activation::relu)
    all.template operator()<Activation::relu>();
  else if (f == Activation::gelu)
    all.template operator()<Activation::gelu>();
  else if (f == Activation::gelu_tanh)
    all.template operator()<Activation::gelu_tanh>();
  return x;
}

}  // namespace
}  // namespace kolmo::cuda
