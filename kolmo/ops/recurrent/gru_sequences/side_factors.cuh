#pragma once
// The factors of the products of side_by_side.cuh, as two f16 each.
//
// A factor is scaled by a power of two, so that the largest of its row of weights, or the largest state of its plan, lies between 2^13 and
// 2^14. It is then x1 + x2, x1 the factor and x2 the rest, both rounded to f16: |x2| <= 2^-11 |x1|, and x1 + x2 differs from the factor
// by at most 2^-22 of it, or 2^-38 of the largest. Of the four products of parts, x2 y2 is left out, so a product errs by at most
// 3 2^-22 of it. That is less than the error of a sum in float of more than 12 products.
#include "kolmo/base/convert.hpp"
#include "kolmo/ops/recurrent/gru_sequences/side_memory.cuh"

namespace kolmo::cuda {
namespace {

/// Splits two scaled elements of a factor into parts, of which a word holds two. What is not finite becomes NaN.
__device__ inline void split_pair(float x, float y, std::uint32_t (&parts)[2]) {
  const auto high = narrowed<Half>(Pack<float, 2>{x, y});
  const auto back = widened(high);
  parts[0] = std::bit_cast<std::uint32_t>(high);
  parts[1] =
      std::bit_cast<std::uint32_t>(narrowed<Half>(Pack<float, 2>{x - back.value[0], y - back.value[1]}));
}
/// The power of two that brings the largest factor into the range from 2^13 to 2^14, if that is at least 2^-113.
__device__ inline float scale_for(float largest) {
  const int exponent = int(std::bit_cast<std::uint32_t>(largest) >> 23) - 127;
  return std::bit_cast<float>(std::uint32_t(127 + 13 - max(exponent, -113)) << 23);
}
/// Computes a / b within two units in the last place, without the branches of a division that is rounded correctly. It is 0 for b above
/// 2^126.
__device__ inline float quotient(float a, float b) {
#ifdef SIMT
  return a / b;
#else
  return __fdividef(a, b);
#endif
}
__device__ inline float quick_gate(float x) { return quotient(1, 1 + std::exp(-x)); }
/// Computes tanh within some units in the last place of 1.
__device__ inline float quick_tanh(float x) { return 1 - quotient(2, 1 + std::exp(2 * x)); }

/// The state that is element e of a lane's factors.
__device__ inline int state_of(int warp, int lane, int e) { return warp * side_depth + 4 * e + lane % 4; }

/// A lane's factors of the states of plan lane / 4 of a tile: [half of the warp's states][part][word].
using StateFactors = std::uint32_t[2][2][2];
/// Reads a warp's states of a tile, [unit][plan].
__device__ inline void read_factors(const float* states, int warp, int lane, StateFactors& factor) {
  float v[8];
#pragma unroll
  for (int e = 0; e < 8; ++e) v[e] = states[state_of(warp, lane, e) * side_tile + lane / 4];
#pragma unroll
  for (int half = 0; half < 2; ++half)
#pragma unroll
    for (int word = 0; word < 2; ++word) {
      std::uint32_t parts[2];
      split_pair(v[4 * half + 2 * word], v[4 * half + 2 * word + 1], parts);
      factor[half][0][word] = parts[0], factor[half][1][word] = parts[1];
    }
}

/// The weights of a rank's units in the registers of its threads. Each warp has those of side_depth states.
struct SideWeights {
  std::uint32_t word[6][2][2][4];  ///< of 16 units of a gate each: [half of the warp's states][part][word]
  int warp, lane;

  /// The unit whose weights a word has.
  __device__ int unit_of(int t, int w) const { return t % 2 * 16 + w % 2 * 8 + lane / 4; }
  /// Reads weights, of which `own` are those of the rank's first unit for r, and finds the largest of each row: [gate][unit], 0 before.
  /// Until they are split, two words hold two neighbouring elements.
  __device__ void load(const float* own, int n, int units, unsigned* largest) {
#pragma unroll
    for (int t = 0; t < 6; ++t)
#pragma unroll
      for (int w = 0; w < 4; ++w)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int k = state_of(warp, lane, 4 * half + w / 2 * 2);
          const float* const line = own + (std::int64_t(t / 2) * n + unit_of(t, w)) * n + k;
          const bool there = unit_of(t, w) < units;
          word[t][half][0][w] = std::bit_cast<std::uint32_t>(there && k < n ? line[0] : 0.F);
          word[t][half][1][w] = std::bit_cast<std::uint32_t>(there && k + 4 < n ? line[4] : 0.F);
        }
#pragma unroll
    for (int t = 0; t < 6; ++t)
#pragma unroll
      for (int odd = 0; odd < 2; ++odd) {
        float most = 0;
#pragma unroll
        for (int i = 0; i < 8; ++i)
          most = fmaxf(most, fabsf(std::bit_cast<float>(word[t][i / 4][i / 2 % 2][odd + i % 2 * 2])));
#pragma unroll
        for (int mask = 1; mask < 4; mask *= 2) most = fmaxf(most, __shfl_xor_sync(~0U, most, mask));
        if (lane % 4 == 0)  // the bits of floats from 0 on have their order
          atomicMax(largest + t / 2 * side_units + unit_of(t, odd), std::bit_cast<std::uint32_t>(most));
      }
  }
  __device__ static float scale_of(const unsigned* largest, int gate, int unit) {
    return scale_for(std::bit_cast<float>(largest[gate * side_units + unit]));
  }
  __device__ void split(const unsigned* largest) {
#pragma unroll
    for (int t = 0; t < 6; ++t)
#pragma unroll
      for (int w = 0; w < 4; ++w)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float scale = scale_of(largest, t / 2, unit_of(t, w));
          std::uint32_t parts[2];
          split_pair(std::bit_cast<float>(word[t][half][0][w]) * scale,
                     std::bit_cast<float>(word[t][half][1][w]) * scale, parts);
          word[t][half][0][w] = parts[0], word[t][half][1][w] = parts[1];
        }
  }
};

}  // namespace
}  // namespace kolmo::cuda
