#pragma once
// Training by one grid whose blocks run at once and hold x between its two readings, for (n, c) of f32. A block has a strip of
// channels and every `ranks`-th piece of the batch, as base/sums.hpp adds lanes so far apart last: the sums of a block are one
// lane of each channel. Anonymous namespace: see device/grid.cuh.
#include <algorithm>
#include <bit>

#include "kolmo/device/activation.cuh"
#include "kolmo/device/async.cuh"
#include "kolmo/device/read_once.cuh"
#include "kolmo/device/short_sums.cuh"
#include "kolmo/device/together.cuh"
#include "kolmo/ops/nn/batch_norm/batch_norm_channels.hpp"

namespace kolmo::cuda {
namespace {

/// A thread copies and writes one pack of each piece, and sums one channel of every at_once-th piece.
struct HeldColumns {
  static constexpr int threads = 512, width = 4, channels = 64, across = channels / width,
                       rows = BatchShape::rows_at_a_time, piece = rows * channels,
                       at_once = threads / channels, most = 32, in_shared = 27,
                       in_registers = most - in_shared;
  static constexpr std::size_t shared = std::size_t(in_shared) * piece * sizeof(float);
  static_assert(threads == rows * across && most == 4 * at_once && in_registers < at_once);
  using Values = Pack<float, width>;

  PrepareChannel<float> prepare;
  float* y;
  Sums<2>* of_blocks;
  Activation activation;
  int pieces, ranks;
  bool two_a_lane;  ///< or more; else the pieces of a block fall on as many lanes as it sums at once

  /// The first row of piece j of a block.
  __device__ std::int64_t first_row(int rank, int j) const { return (rank + std::int64_t(ranks) * j) * rows; }
};

/// The sum of `count` rows of a channel, in the order of base/sums.hpp.
__device__ inline Sums<2> sum_of_held(const float* value, double origin, int count) {
  using H = HeldColumns;
  const typename DeviationRows<float>::Row row{nullptr, origin, 0, 0};
  if (count >= H::rows)
    return tree_of<H::rows, 1, 2>([&](int i) { return row.of(value[i * H::channels]); }, 0);
  return tree_of<H::rows, 1, 2>([&](int i) { return i < count ? row.of(value[i * H::channels]) : Sums<2>{}; },
                                0);
}

__global__ void __launch_bounds__(HeldColumns::threads, 1) normalise_held(HeldColumns f) {
  using H = HeldColumns;
  using Values = H::Values;
  float* const shared = dynamic_shared<float>();
  __shared__ Sums<2> sums[H::at_once][H::channels];
  __shared__ __align__(16) ChannelMap<float> map[H::channels];
  const BatchShape& shape = f.prepare.shape;
  const int thread = int(threadIdx.x), rank = int(blockIdx.x) % f.ranks, strip = int(blockIdx.x) / f.ranks,
            own = (f.pieces - rank + f.ranks - 1) / f.ranks, of_channel = thread % H::channels,
            part = thread / H::channels;
  const std::int64_t channel = std::int64_t(strip) * H::channels + of_channel;
  const std::int64_t at = thread / H::across * shape.c + strip * H::channels + thread % H::across * H::width;
  const auto slot = [&](int j) { return shared + j % H::in_shared * H::piece; };
  const auto there = [&](int j) { return f.first_row(rank, j) + thread / H::across < shape.n; };
  const auto copy = [&](int from, int to) {
#pragma unroll 4
    for (int j = from; j < to && j < own; ++j) {
      const bool has = there(j);
      copy_async(
          reinterpret_cast<Values*>(slot(j)) + thread,
          reinterpret_cast<const Values*>(f.prepare.x + (has ? at + f.first_row(rank, j) * shape.c : 0)),
          has);
    }
    commit_copies();
  };
#pragma unroll
  for (int j = 0; j < H::in_shared; j += H::at_once) copy(j, min(j + H::at_once, H::in_shared));
  const double origin = f.prepare.x[channel];  // before y is written, which may be x
  const auto line = f.prepare.line(channel);

  Values kept[H::in_registers] = {};
  Sums<2> of_piece[4] = {};
#pragma unroll
  for (int b = 0; b < 4; ++b) {
    if (b < 2)
      wait_copies<3>();
    else if (b == 2)
      wait_copies<2>();
    else
      wait_copies<0>();
    if (b == 0)
#pragma unroll
      for (int j = 0; j < H::in_registers; ++j)
        if (j < own) kept[j] = load_pack<H::width>(slot(j) + thread * H::width);
    __syncthreads();
    if (const int j = b * H::at_once + part; j < own) {
      const std::int64_t rest = shape.n - f.first_row(rank, j);
      of_piece[b] = sum_of_held(slot(j) + of_channel, origin, int(rest < H::rows ? rest : H::rows));
    }
    if (b != 0) continue;
    __syncthreads();
    copy(H::in_shared, H::most);
  }
  // Lanes begin at 0. Pieces 2 at_once apart are of one lane, or of lanes that are added first.
  const Sums<2> first = Sums<2>{} + of_piece[0];
  sums[part][of_channel] = f.two_a_lane ? (first + of_piece[2]) + (Sums<2>{} + of_piece[1] + of_piece[3])
                                        : first + of_piece[1] + of_piece[2] + of_piece[3];
  const auto sum_of_parts = [&] {
    return tree_of<H::at_once, 1, 2>([&](int i) { return sums[i][of_channel]; }, 0);
  };
  __syncthreads();
  if (part == 0) f.of_blocks[rank * shape.c + channel] = sum_of_parts();
  meet_grid();

  sums[part][of_channel] = tree_of<4, 1, 2>(
      [&](int i) {
        const int of = part + i * H::at_once;
        return of < f.ranks ? f.of_blocks[of * shape.c + channel] : Sums<2>{};
      },
      0);
  __syncthreads();
  if (part == 0) {
    const auto of = f.prepare.of_batch(sum_of_parts(), origin);
    map[of_channel] = f.prepare.map_of(line, of);
    if (rank == 0) f.prepare.update(channel, of), f.prepare.keep(channel, of);
  }
  __syncthreads();
  ChannelMap<float> of[H::width];
#pragma unroll
  for (int w = 0; w < H::width; ++w) of[w] = map[thread % H::across * H::width + w];
  const auto write = [&](int j, Values v) {
    if (!there(j)) return;
#pragma unroll
    for (int w = 0; w < H::width; ++w) v.value[w] = of[w](v.value[w]);
    if (f.activation != Activation::none) v = activated(f.activation, v);
    write_once(f.y + at + f.first_row(rank, j) * shape.c, v);
  };
#pragma unroll
  for (int j = 0; j < H::in_registers; ++j)
    if (j + H::in_shared < own) write(j, kept[j]);
#pragma unroll 4
  for (int j = max(own - H::in_shared, 0); j < own; ++j)
    write(j, load_pack<H::width>(slot(j) + thread * H::width));
}

/// Trains, if as many blocks as hold x run at once on the device.
inline bool hold_columns(const BatchNormArgs& a, const BatchNormScratch<float>& scratch,
                         cudaStream_t stream) {
  using H = HeldColumns;
  static const int most = blocks_together(a.x.device.index, normalise_held, H::threads, H::shared);
  const BatchShape shape(a);
  const std::int64_t strips = shape.c / H::channels, pieces = shape.pieces();
  const bool columns = shape.s == 1 && strips && shape.c % H::channels == 0 &&
                       packed_rows<float>(1, 0, a.x.as<float>(), a.y.as<float>());
  if (!columns || strips > most || pieces > std::int64_t(H::most) * most) return false;
  const int lanes = pieces < sum_lanes ? int(std::bit_ceil(std::uint64_t(pieces))) : sum_lanes,
            ranks = std::min(int(std::bit_floor(unsigned(most / strips))), lanes / H::at_once);
  if (!ranks || pieces > H::most * ranks) return false;
  launch_together(normalise_held, unsigned(strips * ranks), H::threads, H::shared, stream,
                  H{scratch.prepare(a), a.y.as<float>(), scratch.partials, a.activation, int(pieces), ranks,
                    lanes / ranks > H::at_once});
  return true;
}

}  // namespace
}  // namespace kolmo::cuda
