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

/// A warp copies, sums and writes 32 channels of every `parts`-th piece of its block, in two halves, the even rows and the odd
/// ones, which base/sums.hpp adds last: so it waits for no other warp while x comes, and little is left to sum when the last has
/// come. A lane sums one channel. The first halves move to registers, as shared memory has no place for all.
struct HeldColumns {
  static constexpr int threads = 512, width = 4, channels = 64, parts = threads / channels,
                       rows = BatchShape::rows_at_a_time, across = 32 / width, down = 32 / across,
                       packs = rows / 2 / down, half = packs * 32 * width, slots = 6, in_registers = 2,
                       halves = slots + in_registers, most = halves / 2 * parts,
                       most_ranks = sum_lanes / parts;
  static constexpr std::size_t shared = std::size_t(threads / 32) * slots * half * sizeof(float);
  static_assert(halves == 8 && in_registers <= slots);
  using Values = Pack<float, width>;

  PrepareChannel<float> prepare;
  float* y;
  Word* of_blocks;  ///< of each strip, of each rank, its two sums of each channel
  Activation activation;
  int log_ranks;
  bool two_a_lane;  ///< or more; else the pieces of a block fall on as many lanes as it sums at once
};

/// The sum of the first `count` rows of 32 channels that lie together.
__device__ inline Sums<2> sum_of_half(const float* value, double origin, int count) {
  using H = HeldColumns;
  constexpr int rows = H::rows / 2;
  const typename DeviationRows<float>::Row row{nullptr, origin, 0, 0};
  if (count >= rows) return tree_of<rows, 1, 2>([&](int i) { return row.of(value[i * 32]); }, 0);
  if (count <= 0) return {};
  return tree_of<rows, 1, 2>([&](int i) { return i < count ? row.of(value[i * 32]) : Sums<2>{}; }, 0);
}

__global__ void __launch_bounds__(HeldColumns::threads, 1) normalise_held(HeldColumns f) {
  using H = HeldColumns;
  using Values = H::Values;
  __shared__ Sums<2> sums[H::parts][H::channels];
  __shared__ __align__(16) ChannelMap<float> map[H::channels];
  const BatchShape& shape = f.prepare.shape;
  const int n = int(shape.n), c = int(shape.c), ranks = 1 << f.log_ranks;
  const int thread = int(threadIdx.x), lane = thread % 32, rank = int(blockIdx.x) & (ranks - 1),
            strip = int(blockIdx.x) >> f.log_ranks, of_channel = thread % H::channels,
            part = thread / H::channels;
  const std::int64_t channel = strip * H::channels + of_channel;
  float* const mine = dynamic_shared<float>() + thread / 32 * H::slots * H::half;
  const auto slot = [&](int h) { return mine + (h < H::slots ? h : h - H::slots) * H::half; };
  const auto first_row = [&](int h) { return (rank + ranks * (part + h / 2 * H::parts)) * H::rows + h % 2; };
  // The packs of this lane: those of half h are `down` rows of the half apart, so twice as many of x.
  const int first_channel = of_channel / 32 * 32 + lane % H::across * H::width, down = lane / H::across * 2;
  const auto row_of = [&](int h, int p) { return first_row(h) + down + p * 2 * H::down; };
  const auto place_of = [&](int h, int p) { return row_of(h, p) * c + strip * H::channels + first_channel; };
  const CachePolicy once = cache_policy(Keep::once);
  const auto copy = [&](int h) {
    if (h < H::halves) {
#pragma unroll
      for (int p = 0; p < H::packs; ++p) {
        const bool there = row_of(h, p) < n;
        copy_async(reinterpret_cast<Values*>(slot(h)) + p * 32 + lane,
                   reinterpret_cast<const Values*>(f.prepare.x + (there ? place_of(h, p) : 0)), there, once);
      }
    }
    commit_copies();
  };
  Word* const of_strip = f.of_blocks + strip * ranks * 2 * H::channels + of_channel;
  const auto sum_of_rank = [&](int of, int k) { return of_strip + (of * 2 + k) * H::channels; };
  if (part == 0)
    for (int k = 0; k < 2; ++k) empty_place(sum_of_rank(rank, k));
  const Arrival arrival = arrive_in_grid();
#pragma unroll
  for (int h = 0; h < H::slots; ++h) copy(h);
  const double origin = f.prepare.x[channel];  // before y is written, which may be x
  const auto line = f.prepare.line(channel);

  Values kept[H::in_registers][H::packs] = {};
  // Lanes begin at 0. Pieces 2 `parts` apart are of one lane, or of lanes that are added first.
  Sums<2> sum[2] = {}, even{};
#pragma unroll 1
  for (int h = 0; h < H::halves; ++h) {
    wait_copies<H::slots - 1>();
    __syncwarp();
#pragma unroll
    for (int r = 0; r < H::in_registers; ++r)
      if (h == r)
#pragma unroll
        for (int p = 0; p < H::packs; ++p)
          kept[r][p] = load_pack<H::width>(slot(h) + (p * 32 + lane) * H::width);
    const Sums<2> of_half = sum_of_half(slot(h) + lane, origin, (n - first_row(h) + 1) / 2);
    if (h % 2 == 0)
      even = of_half;
    else if (h / 2 % 2 && f.two_a_lane)
      sum[1] = sum[1] + (even + of_half);
    else
      sum[0] = sum[0] + (even + of_half);
    __syncwarp();
    copy(h + H::slots);
    if (h == H::halves - 2) wait_for_grid(arrival);  // earlier, it would queue behind the copies
  }
  sums[part][of_channel] = sum[0] + sum[1];
  const auto sum_of_parts = [&] {
    return tree_of<H::parts, 1, 2>([&](int i) { return sums[i][of_channel]; }, 0);
  };
  __syncthreads();
  if (part == 0) {
    const Sums<2> of_block = sum_of_parts();
    for (int k = 0; k < 2; ++k) leave(sum_of_rank(rank, k), of_block.value[k]);
  }
  __syncthreads();
  double number[2 * H::most_ranks / H::parts];
  take(number, (ranks - part + H::parts - 1) / H::parts * 2,
       [&](int i) { return sum_of_rank(part + i / 2 * H::parts, i % 2); });
  sums[part][of_channel] = tree_of<H::most_ranks / H::parts, 1, 2>(
      [&](int i) {
        return Sums<2>{{number[2 * i], number[2 * i + 1]}};
      },
      0);
  __syncthreads();
  PrepareChannel<float>::Statistics statistics{};
  if (part == 0) {
    statistics = f.prepare.of_batch(sum_of_parts(), origin);
    map[of_channel] = f.prepare.map_of(line, statistics);
  }
  __syncthreads();
  if (part == 0 && rank == 0) f.prepare.update(channel, statistics), f.prepare.keep(channel, statistics);
  ChannelMap<float> of[H::width];
#pragma unroll
  for (int w = 0; w < H::width; ++w) of[w] = map[first_channel + w];
  const auto write = [&](int h, int p, Values v) {
    if (row_of(h, p) >= n) return;
#pragma unroll
    for (int w = 0; w < H::width; ++w) v.value[w] = of[w](v.value[w]);
    if (f.activation != Activation::none) v = activated(f.activation, v);
    write_once(f.y + place_of(h, p), v);
  };
#pragma unroll
  for (int h = 0; h < H::in_registers; ++h)
#pragma unroll
    for (int p = 0; p < H::packs; ++p) write(h, p, kept[h][p]);
#pragma unroll 1
  for (int h = H::in_registers; h < H::halves; ++h)
#pragma unroll
    for (int p = 0; p < H::packs; ++p) write(h, p, load_pack<H::width>(slot(h) + (p * 32 + lane) * H::width));
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
            ranks = std::min(int(std::bit_floor(unsigned(most / strips))), lanes / H::parts);
  if (!ranks || pieces > H::most * ranks) return false;
  launch_together(normalise_held, unsigned(strips * ranks), H::threads, H::shared, stream,
                  H{scratch.prepare(a), a.y.as<float>(), reinterpret_cast<Word*>(scratch.partials),
                    a.activation, std::countr_zero(unsigned(ranks)), lanes / ranks > H::parts});
  return true;
}

}  // namespace
}  // namespace kolmo::cuda
