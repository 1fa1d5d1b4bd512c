#pragma once
// The sums over the units of a plan's state that its loss needs: a h, h h, e, e logit and e b, where e is the exponential of a logit less
// the largest one. Lanes that differ by a multiple of 8 have the same plan.
#include "kolmo/ops/recurrent/gru_sequences/side_memory.cuh"

namespace kolmo::cuda {
namespace {

constexpr float no_logit = -1e30F;

/// The parameters of a unit in the losses.
struct SideHead {
  float of_state, of_category;
  bool logit;  ///< the state of the unit is that of a category
};

__device__ inline float larger(float a, float b) { return a < b ? b : a; }
/// Adds the sums of the lanes of a plan.
__device__ inline void add_lanes(float (&sum)[5]) {
#pragma unroll
  for (int mask = side_tile; mask < 32; mask *= 2)
#pragma unroll
    for (float& s : sum) s += __shfl_xor_sync(~0U, s, mask);
}
/// Adds a warp's units of each tile, of which a thread has one, h. The sums are stored for tile 0 at `to`, [sum][plan], with the largest logit
/// as the last, and for each tile `apart` further.
template <int Tiles>
__device__ void sum_units(const float (&h)[Tiles], const SideHead& head, int lane, float* to, int apart) {
  float most[Tiles], sum[Tiles][5];
#pragma unroll
  for (int tile = 0; tile < Tiles; ++tile) most[tile] = head.logit ? h[tile] : no_logit;
#pragma unroll
  for (int mask = side_tile; mask < 32; mask *= 2)
#pragma unroll
    for (float& one : most) one = larger(one, __shfl_xor_sync(~0U, one, mask));
#pragma unroll
  for (int tile = 0; tile < Tiles; ++tile) {
    const float below = (head.logit ? h[tile] : no_logit) - most[tile], power = std::exp(below);
    sum[tile][0] = h[tile] * head.of_state, sum[tile][1] = h[tile] * h[tile];
    sum[tile][2] = power, sum[tile][3] = power * below, sum[tile][4] = power * head.of_category;
  }
#pragma unroll
  for (float(&of_tile)[5] : sum) add_lanes(of_tile);
  if (lane >= side_tile) return;
#pragma unroll
  for (int tile = 0; tile < Tiles; ++tile)
#pragma unroll
    for (int q = 0; q < decoded; ++q)
      to[tile * apart + q * side_tile + lane] = q < 5 ? sum[tile][q] : most[tile];
}
/// Adds `Count` groups of sums for the plan of the lane, and returns the largest logit.
template <int Count>
__device__ float add_groups(const float* groups, int lane, float (&sum)[5]) {
  constexpr int apart = 32 / side_tile, each_lane = (Count + apart - 1) / apart;
  float part[each_lane][decoded], most = no_logit;
#pragma unroll
  for (int i = 0; i < each_lane; ++i) {
    const int g = lane / side_tile + i * apart;
#pragma unroll
    for (int q = 0; q < decoded; ++q)
      part[i][q] = g < Count ? groups[(g * decoded + q) * side_tile + lane % side_tile]
                   : q == 5  ? no_logit
                             : 0.F;
    most = larger(most, part[i][5]);
  }
#pragma unroll
  for (int mask = side_tile; mask < 32; mask *= 2) most = larger(most, __shfl_xor_sync(~0U, most, mask));
#pragma unroll
  for (float& s : sum) s = 0;
#pragma unroll
  for (int i = 0; i < each_lane; ++i) {
    const float below = part[i][5] - most, scale = std::exp(below);
    sum[0] += part[i][0], sum[1] += part[i][1], sum[2] += scale * part[i][2];
    sum[3] += scale * (part[i][3] + below * part[i][2]), sum[4] += scale * part[i][4];
  }
  add_lanes(sum);
  return most;
}

}  // namespace
}  // namespace kolmo::cuda
