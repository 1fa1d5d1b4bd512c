#pragma once
// Converts packs of 16-bit elements. In a kernel the GPU's instructions convert; they keep a NaN but not its
// payload. Elements of other types, and all elements on the CPU, are converted as in base/half.hpp.
#include <bit>
#include <cstdint>
#include <type_traits>

#include "kolmo/base/half.hpp"
#include "kolmo/base/pack.hpp"

namespace kolmo {

#ifdef __CUDA_ARCH__
template <class T, int W>
inline constexpr bool in_pairs = sizeof(T) == 2 && W % 2 == 0;

__device__ inline void widen_pair(std::uint32_t pair, float& low, float& high) {
  asm("{.reg .b16 low, high;\n"
      "mov.b32 {low, high}, %2;\n"
      "cvt.f32.f16 %0, low;\n"
      "cvt.f32.f16 %1, high;}"
      : "=f"(low), "=f"(high)
      : "r"(pair));
}
template <class T>
__device__ std::uint32_t narrow_pair(float low, float high) {
  std::uint32_t pair;
  if constexpr (std::is_same_v<T, Half>)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

#else
template <class T, int W>
inline constexpr bool in_pairs = false;
inline void widen_pair(std::uint32_t, float&, float&) {}
template <class T>
std::uint32_t narrow_pair(float, float) {
  return 0;
}
#endif

template <class T, int W>
KOLMO_HD Pack<Compute<T>, W> widened(const Pack<T, W>& x) {
  Pack<Compute<T>, W> y;
  if constexpr (in_pairs<T, W> && std::is_same_v<T, Half>) {
    const auto pairs = std::bit_cast<Pack<std::uint32_t, W / 2>>(x);
    for (int i = 0; i < W / 2; ++i) widen_pair(pairs.value[i], y.value[2 * i], y.value[2 * i + 1]);
  } else {
    for (int w = 0; w < W; ++w) y.value[w] = Compute<T>(x.value[w]);
  }
  return y;
}

/// Rounds each element to T, to the nearest value with ties to even.
template <class T, int W>
KOLMO_HD Pack<T, W> narrowed(const Pack<Compute<T>, W>& x) {
  if constexpr (in_pairs<T, W>) {
    Pack<std::uint32_t, W / 2> pairs;
    for (int i = 0; i < W / 2; ++i) pairs.value[i] = narrow_pair<T>(x.value[2 * i], x.value[2 * i + 1]);
    return std::bit_cast<Pack<T, W>>(pairs);
  } else {
    Pack<T, W> y;
    for (int w = 0; w < W; ++w) y.value[w] = T(x.value[w]);
    return y;
  }
}

}  // namespace kolmo
