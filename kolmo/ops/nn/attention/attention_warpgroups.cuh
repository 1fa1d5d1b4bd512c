#pragma once
// attention on Hopper's tensor cores: f16 and bf16, d of 64 or 128. One thread of a block's first warpgroup
// copies keys and values by the copy engine; the other warpgroups have 64 queries each. A warpgroup starts
// the products that give the scores of a step, then those with the values of the step before. The latter are
// computed while the scores become weights. Warpgroups take turns in starting products, so that the products
// of one are computed while the others turn scores into weights. A block may have several tiles of queries,
// and fetches those of the next tile while it finishes one.
// Method: Shah et al. 2024 (FlashAttention-3).
#include "kolmo/device/hopper.cuh"
#include "kolmo/ops/nn/attention/attention_tile.cuh"

namespace kolmo {
namespace {

constexpr int warpgroup_keys = 128;

/// Layout of shared memory: queries, two stages of keys and two of values, all in boxes of 64 columns at
/// multiples of 1024 bytes; then barriers. Groups is the number of warpgroups with queries. The registers
/// allow two of them, or three for d = 64.
template <int D, int Groups>
struct AttentionMemory {
  static constexpr int rows = 64 * Groups, boxes = D / 64, stages = 2, row = 128;
  static constexpr int queries = rows * D * 2, piece = warpgroup_keys * D * 2;
  static constexpr int keys = queries, values = keys + stages * piece, barriers = values + stages * piece,
                       bytes = barriers + (2 + 4 * stages) * 8 + 1024, threads = 128 * (Groups + 1);
};

template <class T, int D, int Groups>
__global__ void __launch_bounds__(AttentionMemory<D, Groups>::threads, 1)
    attend_warpgroups(cuda::EarlyStart early, AttentionCall<T> c, unsigned tiles, bool heads_last,
                      const __grid_constant__ cuda::TensorMap map_q,
                      const __grid_constant__ cuda::TensorMap map_k,
                      const __grid_constant__ cuda::TensorMap map_v) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using M = AttentionMemory<D, Groups>;
  constexpr int multiplying_warps = 4 * Groups;
  const std::uint32_t start =
                          (cuda::shared_address(cuda::dynamic_shared<unsigned char>()) + 1023) / 1024 * 1024,
                      q = start, q_full = start + M::barriers, q_empty = q_full + 8, k_full = q_empty + 8,
                      k_empty = k_full + 16, v_full = k_empty + 16, v_empty = v_full + 16;
  // Steps are numbered through all tiles of a block.
  const auto stage = [](int step) { return step % M::stages; };
  const auto parity = [](int step) { return step / M::stages % 2; };
  const auto k_of = [&](int step) { return start + M::keys + stage(step) * M::piece; };
  const auto v_of = [&](int step) { return start + M::values + stage(step) * M::piece; };
  // Tiles get shorter with their number. So blocks take them in order in one round, and in reverse order in
  // the next.
  const auto index_of = [&](int round) {
    return unsigned(round) * gridDim.x + (round % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
  };
  const auto tile_of = [&](unsigned index) {
    AttentionTile tile(c, M::rows, warpgroup_keys, 1, index);
    tile.last_step = max(tile.last_step, 1);  // one step at least, even if no key is seen
    return tile;
  };
  if (threadIdx.x == 0) {
    cuda::make_barrier(q_full, 1), cuda::make_barrier(q_empty, multiplying_warps);
    for (int i = 0; i < M::stages; ++i) {
      cuda::make_barrier(k_full + i * 8, 1), cuda::make_barrier(k_empty + i * 8, multiplying_warps);
      cuda::make_barrier(v_full + i * 8, 1), cuda::make_barrier(v_empty + i * 8, multiplying_warps);
    }
    cuda::publish_barriers();
  }
  early.wait();
  __syncthreads();

  if (threadIdx.x < 128) {
    cuda::give_up_registers<24>();
    if (threadIdx.x > 0) return;
    cuda::prefetch(map_q), cuda::prefetch(map_k), cuda::prefetch(map_v);
    int step = 0, passed = 0;
    for (unsigned index; (index = index_of(passed)) < tiles; ++passed) {
      const AttentionTile tile = tile_of(index);
      const int entry = int(heads_last ? tile.group / c.kv_heads : tile.group),
                column = heads_last ? int(tile.group % c.kv_heads) * D : 0;
      for (int key = 0; key < tile.last_step * warpgroup_keys; key += warpgroup_keys, ++step) {
        const std::uint32_t full_k = k_full + stage(step) * 8, full_v = v_full + stage(step) * 8;
        cuda::wait_for(k_empty + stage(step) * 8, parity(step) ^ 1);
        cuda::expect_bytes(full_k, M::piece);
        for (int i = 0; i < M::boxes; ++i)
          cuda::copy_box<1>(k_of(step) + i * warpgroup_keys * M::row, map_k, full_k, column + i * 64, key,
                            entry);
        if (key == 0) {
          cuda::wait_for(q_empty, passed % 2 ^ 1);
          cuda::expect_bytes(q_full, M::queries);
          for (int i = 0; i < M::boxes; ++i)
            cuda::copy_box<1>(q + i * M::rows * M::row, map_q, q_full, column + i * 64, tile.row, entry);
        }
        cuda::wait_for(v_empty + stage(step) * 8, parity(step) ^ 1);
        cuda::expect_bytes(full_v, M::piece);
        for (int i = 0; i < warpgroup_keys / 64 * M::boxes; ++i)
          cuda::copy_box<1>(v_of(step) + i * 64 * M::row, map_v, full_v, column + i % M::boxes * 64,
                            key + i / M::boxes * 64, entry);
      }
    }
    return;
  }

  cuda::take_registers<(Groups == 2 ? 240 : 160)>();
  const int lane = int(threadIdx.x) % 32, group = int(threadIdx.x) / 128 - 1;
  const float factor = float(c.scale * 1.4426950408889634);  // weights are computed as powers of 2
  float score[warpgroup_keys / 2], sum[D / 2], most[2], total[2];
  std::uint32_t weights[warpgroup_keys / 16][4];

  const auto release = [&](std::uint32_t barrier) {
    if (lane == 0) cuda::arrive_at(barrier, 0);
  };
  const auto begin_scores = [&](int step) {
    cuda::wait_for(k_full + stage(step) * 8, parity(step));
    cuda::begin_products();
#pragma unroll
    for (int i = 0; i < M::boxes; ++i) {
      std::uint64_t a = cuda::factor<true>(q + i * M::rows * M::row + group * 64 * M::row),
                    b = cuda::factor<true>(k_of(step) + i * warpgroup_keys * M::row);
#pragma unroll
      for (int e = 0; e < 64; e += 16) {
        cuda::multiply<T, warpgroup_keys, true, true>(score, a, b, i + e > 0);
        a += cuda::next_factor<true>, b += cuda::next_factor<true>;
      }
    }
    cuda::commit_products();
  };
  const auto begin_values = [&](int step) {
    cuda::wait_for(v_full + stage(step) * 8, parity(step));
    cuda::begin_products();
#pragma unroll
    for (int e = 0; e < warpgroup_keys / 16; ++e)
      cuda::multiply<T, D, false>(sum, weights[e],
                                  cuda::factor<false>(v_of(step) + e / 4 * M::boxes * 64 * M::row) +
                                      e % 4 * cuda::next_factor<false>);
    cuda::commit_products();
  };
  const auto end_values = [&] {
    cuda::wait_products<0>();
    cuda::fence_registers(sum);
#pragma unroll
    for (auto& w : weights) cuda::fence_registers(w);
  };
  const auto keep_weights = [&] {
#pragma unroll
    for (int e = 0; e < warpgroup_keys / 16; ++e)
#pragma unroll
      for (int j = 0; j < 4; ++j)
        weights[e][j] = narrow_pair<T>(score[8 * e + 2 * j], score[8 * e + 2 * j + 1]);
  };

  const cuda::Turns<Groups> turns{group};
  if (group == Groups - 1) turns.end();
  int before = 0, passed = 0;  // earlier steps and tiles of the block
  for (unsigned index; (index = index_of(passed)) < tiles; ++passed) {
    const AttentionTile tile = tile_of(index);
    const int last = tile.last_step,
              first = tile.row + group * 64 + int(threadIdx.x) % 128 / 32 * 16 + lane / 4,
              end[2] = {AttentionRow(c, tile, first).end, AttentionRow(c, tile, first + 8).end};
    const bool ends = index_of(passed + 1) >= tiles;
    float rescaling[2];
    const auto weigh_scores = [&](int step) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const auto at = [&](int j) -> float& { return score[j / 2 * 4 + 2 * h + j % 2]; };
        if (step >= tile.whole_steps) {
          const int seen = end[h] - step * warpgroup_keys - lane % 4 * 2;
#pragma unroll
          for (int j = 0; j < warpgroup_keys / 4; ++j)
            if (j / 2 * 8 + j % 2 >= seen) at(j) = -INFINITY;
        }
        rescaling[h] = weigh<warpgroup_keys / 4, 4>(most[h], total[h], factor, at);
      }
    };
#pragma unroll
    for (float& s : sum) s = 0;
#pragma unroll
    for (int h = 0; h < 2; ++h) most[h] = -INFINITY, total[h] = 0;

    cuda::wait_for(q_full, passed % 2);
    turns.wait();
    begin_scores(before);
    turns.end(ends && last == 1);
    cuda::wait_products<0>();
    cuda::fence_registers(score);
    release(k_empty + stage(before) * 8);
    if (last == 1) release(q_empty);
    weigh_scores(0);
    keep_weights();
#pragma unroll 1
    for (int step = 1; step < last; ++step) {
      const int now = before + step;
      turns.wait();
      begin_scores(now);
      begin_values(now - 1);
      turns.end(ends && step == last - 1);
      cuda::wait_products<1>();
      cuda::fence_registers(score);
      release(k_empty + stage(now) * 8);
      if (step == last - 1) release(q_empty);
      weigh_scores(step);
      end_values();
      release(v_empty + stage(now - 1) * 8);
#pragma unroll
      for (int i = 0; i < D / 2; ++i) sum[i] *= rescaling[i / 2 % 2];
      keep_weights();
    }
    before += last;
    begin_values(before - 1);
    end_values();
    release(v_empty + stage(before - 1) * 8);

#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float all = total[h];
      all += __shfl_xor_sync(~0u, all, 1);
      all += __shfl_xor_sync(~0u, all, 2);
      if (first + 8 * h >= c.rows) continue;
      const AttentionResult<T> result(c, KeyParts<float>{1, nullptr, nullptr}, tile, first + 8 * h, most[h],
                                      all, false);
#pragma unroll
      for (int n = 0; n < D / 8; ++n)
        result.template put<2>(8 * n + lane % 4 * 2, 16,
                               Pack<float, 2>{{sum[4 * n + 2 * h], sum[4 * n + 2 * h + 1]}});
    }
  }
#endif
}

}  // namespace
}  // namespace kolmo
