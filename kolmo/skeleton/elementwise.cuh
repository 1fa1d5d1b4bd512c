#pragma once
// Kernels that compute out_i = f(in_i, ...): see skeleton/elementwise.hpp.
#include <iterator>

#include "kolmo/base/convert.hpp"
#include "kolmo/device/grid.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/runtime/cuda/launch.cuh"
#include "kolmo/skeleton/elementwise.hpp"

namespace kolmo::cuda {
namespace {

/// The number of threads of a block, and of packs of 16 bytes that each thread has in flight.
struct ElementwiseShape {
  int block, packs;
};
constexpr Row<ElementwiseShape> elementwise_rows[] = {
    {"block 256, 2 packs", {256, 2}},
    {"block 512, 4 packs", {512, 4}},
    {.name = "element by element", .config = {256, 0}, .naive = true}};

template <class T, int N>
struct Sources {
  const T* in[N];
};

/// Computes a pack of results. Packs of 16-bit elements are converted as a whole. An operator that only
/// converts must keep the payload of a NaN, so it converts each element by itself.
template <class U, class C, class F, class T, int W, int N, std::size_t... I>
__device__ Pack<U, W> applied(const F& f, const Pack<T, W> (&in)[N], std::index_sequence<I...>) {
  constexpr bool whole = std::is_same_v<T, U> && !std::is_same_v<T, C>;
  using From = std::conditional_t<whole, C, T>;
  Pack<From, W> from[N];
#pragma unroll
  for (int t = 0; t < N; ++t) {
    if constexpr (whole)
      from[t] = widened(in[t]);
    else
      from[t] = in[t];
  }
  Pack<std::conditional_t<whole, C, U>, W> result;
#pragma unroll
  for (int w = 0; w < W; ++w) result.value[w] = f(C(from[I].value[w])...);
  if constexpr (whole)
    return narrowed<U>(result);
  else
    return result;
}

/// Computes contiguous tensors that start at multiples of a pack. The elements at the end that do not fill a
/// pack are computed one by one.
template <int Block, int Packs, int W, class C, class F, class T, class U, int N>
__global__ void __launch_bounds__(Block)
    packed_elements(EarlyStart early, F f, Sources<T, N> from, U* out, std::int64_t n) {
  constexpr auto each = std::make_index_sequence<std::size_t(N)>();
  early.wait();
  const std::int64_t packs = n / W;
  for (std::int64_t first = std::int64_t(blockIdx.x) * Block * Packs + threadIdx.x; first < packs;
       first += std::int64_t(gridDim.x) * Block * Packs) {
    Pack<T, W> in[Packs][N];
#pragma unroll
    for (int p = 0; p < Packs; ++p)
#pragma unroll
      for (int t = 0; t < N; ++t)
        if (first + p * Block < packs) in[p][t] = load_pack<W>(from.in[t] + (first + p * Block) * W);
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      if (first + p * Block >= packs) continue;
      store_pack(out + (first + p * Block) * W, applied<U, C>(f, in[p], each));
    }
  }
  const std::int64_t rest = packs * W + thread_index();
  if (rest < n) {
    std::int64_t at[N];
#pragma unroll
    for (int t = 0; t < N; ++t) at[t] = rest;
    out[rest] = U(apply_at<C>(f, from.in, at, each));
  }
}

template <class C, class F, class T, class U, int N>
__global__ void __launch_bounds__(256) single_elements(EarlyStart early, F f, Sources<T, N> from, U* out,
                                                       std::int64_t n, Walk<N> walk, bool plain) {
  constexpr auto each = std::make_index_sequence<std::size_t(N)>();
  early.wait();
  for (std::int64_t i = thread_index(); i < n; i += thread_count()) {
    std::int64_t at[N];
    if (plain)
#pragma unroll
      for (int t = 0; t < N; ++t) at[t] = i;
    else
      walk.at(i, at);
    out[i] = U(apply_at<C>(f, from.in, at, each));
  }
}

template <class E>
void elementwise_launch(const typename E::A& a, Arena, Stream& s, int row) {
  constexpr int inputs = E::inputs;
  E::visit_types(a, [&]<class T, class U> {
    using C = Compute<T>;
    using F = typename E::template Function<C>;
    constexpr int width = 16 / int(sizeof(T) > sizeof(U) ? sizeof(T) : sizeof(U));
    const F f(a);
    const auto pointers = E::template pointers<T>(a);
    Sources<T, inputs> from;
    U* const out = E::out(a).template as<U>();
    const std::int64_t n = E::out(a).size();
    const auto walk = E::walk(a);
    bool packed = walk.plain() && reinterpret_cast<std::uintptr_t>(out) % (sizeof(U) * width) == 0;
    for (int t = 0; t < inputs; ++t) {
      from.in[t] = pointers.in[t];
      packed = packed && reinterpret_cast<std::uintptr_t>(from.in[t]) % (sizeof(T) * width) == 0;
    }
    select<std::size(elementwise_rows)>(row, [&]<int V> {
      constexpr ElementwiseShape shape = elementwise_rows[V].config;
      if constexpr (shape.packs > 0) {
        if (packed)
          return cuda::launch_early(packed_elements<shape.block, shape.packs, width, C, F, T, U, inputs>,
                                    blocks(n, std::int64_t(shape.block) * shape.packs * width), shape.block,
                                    0, native(s), f, from, out, n);
      }
      cuda::launch_early(single_elements<C, F, T, U, inputs>, blocks(n, 256), 256, 0, native(s), f, from, out,
                         n, walk, walk.plain());
    });
  });
}

template <class E>
constexpr Impl<typename E::A> elementwise() {
  return ImplCode<typename E::A>{.rows = elementwise_rows, .launch = elementwise_launch<E>};
}

}  // namespace
}  // namespace kolmo::cuda
