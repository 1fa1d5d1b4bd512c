#pragma once
// Products of a warp on tensor cores, whose operands are spread over its lanes as PTX's mma.sync lays them
// out. One exchange brings all operands to the first lane, which computes for the warp. Sums are added in the
// order of k.

#include <bit>
#include <cmath>
#include <cstdint>

#include "simt/warp.hpp"

namespace simt {

SIMT_PLAIN inline void need_whole_warp(unsigned group, const Wait& of) {
  if (group != ~0u) fail(std::string(of.what) + ": all 32 lanes of the warp are needed", of);
}

/// Computes c += a b with a of 16x16 and b of 16x8 elements of T, which converts to float; a word holds two
/// elements. With r = lane / 4 and s = 2 (lane % 4), a lane holds a(r, s), a(r + 8, s), a(r, s + 8), a(r + 8,
/// s + 8) with their right neighbours, b(s, r) and b(s + 8, r) with their lower ones, and c(r, s), c(r,
/// s + 1), c(r + 8, s), c(r + 8, s + 1).
template <class T>
SIMT_PLAIN void mma_m16n8k16(float* c, const std::uint32_t* a, const std::uint32_t* b, SIMT_AT) {
  struct In {
    float* c;
    const std::uint32_t *a, *b;
  };
  exchange(Operation{~0u, "mma.m16n8k16", at}, In{c, a, b},
           [](int me, Lanes<In> in, unsigned group) SIMT_PLAIN {
             need_whole_warp(group, *in.wait[me]);
             if (me) return 0;
             const auto half = [](std::uint32_t word, int i) SIMT_PLAIN {
               return static_cast<float>(std::bit_cast<T>(static_cast<std::uint16_t>(word >> 16 * i)));
             };
             float left[16][16], right[16][8];
             for (int lane = 0; lane < 32; ++lane)
               for (int i = 0; i < 2; ++i) {
                 const int r = lane / 4, s = lane % 4 * 2 + i;
                 for (int j = 0; j < 4; ++j) left[r + j % 2 * 8][s + j / 2 * 8] = half(in[lane].a[j], i);
                 for (int j = 0; j < 2; ++j) right[s + j * 8][r] = half(in[lane].b[j], i);
               }
             for (int row = 0; row < 16; ++row)
               for (int column = 0; column < 8; ++column) {
                 float& sum = in[row % 8 * 4 + column / 2].c[row / 8 * 2 + column % 2];
                 for (int k = 0; k < 16; ++k) sum += left[row][k] * right[k][column];
               }
             return 0;
           });
}

/// Computes c += a b in double, with a of 16x4 and b of 4x8 elements. A lane holds a(lane / 4 + 8 i,
/// lane % 4), b(lane % 4, lane / 4) and c(lane / 4 + 8 (i / 2), 2 (lane % 4) + i % 2).
SIMT_PLAIN inline void mma_m16n8k4(double* c, const double* a, double b, SIMT_AT) {
  struct In {
    double* c;
    const double* a;
    double b;
  };
  exchange(Operation{~0u, "mma.m16n8k4", at}, In{c, a, b},
           [](int me, Lanes<In> in, unsigned group) SIMT_PLAIN {
             need_whole_warp(group, *in.wait[me]);
             if (me) return 0;
             for (int row = 0; row < 16; ++row)
               for (int column = 0; column < 8; ++column) {
                 double& sum = in[row % 8 * 4 + column / 2].c[row / 8 * 2 + column % 2];
                 for (int k = 0; k < 4; ++k)
                   sum = std::fma(in[row % 8 * 4 + k].a[row / 8], in[column * 4 + k].b, sum);
               }
             return 0;
           });
}

}  // namespace simt
