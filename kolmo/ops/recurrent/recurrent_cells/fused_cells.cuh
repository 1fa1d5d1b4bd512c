#pragma once
// A cell's products and gates in one kernel, in f32. A block computes a tile of states by units. For each it
// sums the products of all gates, first over the depth of x and then over that of h. Rows of the states and
// of both weights are contiguous along the depth, and stay so in shared memory, from which threads read packs
// of 4 elements.
#include "kolmo/base/pack.hpp"
#include "kolmo/device/async.cuh"
#include "kolmo/device/grid.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo::cuda {
namespace {

/// The arguments of a cell. Rows begin at multiples of 16 bytes, and arrays have at most 2^30 elements.
/// Biases may be null.
struct CellProducts {
  const float *x, *h, *weight_ih, *weight_hh, *bias_ih, *bias_hh;
  int rows, k, n;
};

/// The tile of a block. Each of `teams` teams of threads computes the tile's sums for a part of every piece
/// of `depth`; a thread has 8 states by 4 units, which are 8 apart. The packs of a row in shared memory are
/// permuted by the row's number, to avoid bank conflicts.
struct CellTile {
  static constexpr int rows = 64, units = 32, depth = 64, stages = 2, teams = 4, high = 8, wide = 4;
  static constexpr int apart = rows / high, team = apart * (units / wide), threads = team * teams;
  static constexpr int packs = depth / 4, sums = 4, parts = 2,
                       sum_row = units + 8;  // the pad avoids bank conflicts
  static_assert(units / wide == apart && packs == threads / packs && packs % apart == 0);
};
template <int Gates>
struct CellPieces {
  float rows[CellTile::rows + Gates * CellTile::units][CellTile::depth];
};
/// The sums of some rows of the tile: there are `parts` such parts.
using CellSums = float[CellTile::teams][CellTile::sums][CellTile::rows / CellTile::parts][CellTile::sum_row];

template <int Gates>
constexpr std::size_t fused_cell_bytes() {
  const std::size_t pieces = CellTile::stages * sizeof(CellPieces<Gates>);
  return pieces < sizeof(CellSums) ? sizeof(CellSums) : pieces;
}

/// Computes a cell. finish(at, sums) receives 4 sums of an element of the state, which include the biases.
/// With 4 gates these belong to the gates. With 3 gates the last two sums are both those of the last gate:
/// its part of h, then its part of x.
template <int Gates, class Finish>
__global__ void __launch_bounds__(CellTile::threads, 1)
    fused_cell(const __grid_constant__ CellProducts p, const __grid_constant__ Finish finish) {
  using S = CellTile;
  constexpr bool apart = Gates < S::sums;
  auto* const pieces = dynamic_shared<CellPieces<Gates>>();
  const unsigned high = unsigned(p.rows + S::rows - 1) / S::rows;
  const int first_row = int(blockIdx.x % high) * S::rows, first_unit = int(blockIdx.x / high) * S::units;
  const int thread = int(threadIdx.x);
  const int steps_x = (p.k + S::depth - 1) / S::depth, steps = steps_x + (p.n + S::depth - 1) / S::depth;

  // A thread copies packs at the same depth, from every 16th row, beginning with row `copied`.
  const int copied = thread / S::packs, pack = thread % S::packs;
  const float *states, *weights;
  int extent, left_depth;
  const auto enter = [&](const float* from_states, const float* from_weights, int depth) {
    extent = depth, left_depth = depth - pack * 4;
    states = from_states + std::int64_t(first_row + copied) * depth + pack * 4;
    weights = from_weights + std::int64_t(first_unit + copied) * depth + pack * 4;
  };
  float* const shared = pieces->rows[0];
  const int to = copied * S::depth + (pack ^ (copied % S::apart)) * 4;
  const auto fetch_part = [&](int stage, int part) {
    const auto copy = [&](int row, const float* from, bool there) {
      using Words = Pack<float, 4>;
      copy_async(reinterpret_cast<Words*>(shared + stage + to + row * S::depth),
                 reinterpret_cast<const Words*>(from), there);
    };
    const int row = part * S::packs;
    copy(row, states + extent * row, left_depth > 0 && first_row + copied + row < p.rows);
    if (part < Gates)
#pragma unroll
      for (int u = 0; u < S::units; u += S::packs)
        copy(S::rows + part * S::units + u, weights + extent * (part * p.n + u),
             left_depth > 0 && first_unit + copied + u < p.n);
  };

  const int team = thread / S::team, x = thread % S::apart, y = thread % S::team / S::apart;
  constexpr int of_team = S::packs / S::teams, stage_size = int(sizeof(*pieces) / sizeof(float));
  // The places of the first of the team's of_team packs. of_team is a power of 2, so the places of the others
  // differ in the bits of c alone.
  const int left_at = y * S::depth + ((team * of_team) ^ y) * 4,
            right_at = (S::rows + x) * S::depth + ((team * of_team) ^ x) * 4;
  float sum[S::sums][S::wide][S::high] = {};
  const auto finish_fetch = [&](int step) {
    commit_copies();
    states += S::depth, weights += S::depth, left_depth -= S::depth;
    if (step + 1 == steps_x) enter(p.h, p.weight_hh, p.n);
  };
  const auto take_step = [&](int step) {
    wait_copies<0>();
    __syncthreads();
    const int now = step % 2 * stage_size, next = stage_size - now;
#pragma unroll 2  // unrolled by 4 it would need too many registers
    for (int c = 0; c < of_team; ++c) {
      const float *const a = shared + ((now + left_at) ^ c * 4), *const b =
                                                                     shared + ((now + right_at) ^ c * 4);
      Pack<float, 4> left[S::high];
#pragma unroll
      for (int i = 0; i < S::high; ++i) left[i] = load_pack<4>(a + i * S::apart * S::depth);
#pragma unroll
      for (int g = 0; g < Gates; ++g) {
        if (g == Gates / 2) fetch_part(next, c);
#pragma unroll
        for (int u = 0; u < S::wide; ++u) {
          const auto right = load_pack<4>(b + (g * S::units + u * S::apart) * S::depth);
#pragma unroll
          for (int d = 0; d < 4; ++d)
#pragma unroll
            for (int i = 0; i < S::high; ++i) sum[g][u][i] += left[i].value[d] * right.value[d];
        }
      }
    }
    finish_fetch(step + 1);
  };

  steps_x ? enter(p.x, p.weight_ih, p.k) : enter(p.h, p.weight_hh, p.n);
#pragma unroll
  for (int part = 0; part < of_team; ++part) fetch_part(0, part);
  finish_fetch(0);
  int step = 0;
#pragma unroll 1
  for (int phase = 0; phase < 2; ++phase) {
    for (const int end = phase ? steps : steps_x; step < end; ++step) take_step(step);
    if (apart && phase == 0)
#pragma unroll
      for (int u = 0; u < S::wide; ++u)
#pragma unroll
        for (int i = 0; i < S::high; ++i) sum[3][u][i] = sum[2][u][i], sum[2][u][i] = 0;
  }
  wait_copies<0>();

  constexpr int high_part = S::high / S::parts, rows_part = S::rows / S::parts;
  auto& sums = *dynamic_shared<CellSums>();
  const int column = thread % S::units, unit = first_unit + column;
  float bias[S::sums] = {};
  if (unit < p.n)
#pragma unroll
    for (int g = 0; g < S::sums; ++g) {
      if (p.bias_hh && !(apart && g == 3)) bias[g] = p.bias_hh[g * p.n + unit];
      if (p.bias_ih && !(apart && g == 2)) bias[g] += p.bias_ih[min(g, Gates - 1) * p.n + unit];
    }
#pragma unroll
  for (int part = 0; part < S::parts; ++part) {
    __syncthreads();
#pragma unroll
    for (int g = 0; g < S::sums; ++g)
#pragma unroll
      for (int u = 0; u < S::wide; ++u)
#pragma unroll
        for (int i = 0; i < high_part; ++i)
          sums[team][g][y + i * S::apart][x + u * S::apart] = sum[g][u][part * high_part + i];
    __syncthreads();
#pragma unroll 1
    for (int r = thread / S::units; r < rows_part; r += S::threads / S::units) {
      const int row = first_row + part * rows_part + r;
      float total[S::sums];
#pragma unroll
      for (int g = 0; g < S::sums; ++g) {
        total[g] = bias[g];
#pragma unroll
        for (int t = 0; t < S::teams; ++t) total[g] += sums[t][g][r][column];
      }
      if (row < p.rows && unit < p.n) finish(row * p.n + unit, total);
    }
  }
}

}  // namespace
}  // namespace kolmo::cuda
