#pragma once
// Rollouts of many plans on tensor cores. Each rank (ranks.cuh) holds the weights of up to 32 units in its registers, and multiplies them
// by the states of up to three tiles of 8 plans. While the states of a tile are under way to the other ranks, it computes the other tiles.
// Float only.
#include "kolmo/base/bf16_parts.hpp"
#include "kolmo/base/convert.hpp"
#include "kolmo/device/mma.cuh"
#include "kolmo/ops/recurrent/gru_sequences/ranks.cuh"
#include "kolmo/ops/recurrent/gru_sequences/side_memory.cuh"

namespace kolmo::cuda {
namespace {

/// Splits two elements of a factor into parts (PartProducts), of which a word holds two. What is not finite, or rounds to infinity in bf16,
/// becomes NaN.
__device__ inline void split_pair(float x, float y, std::uint32_t (&parts)[3]) {
#pragma unroll
  for (std::uint32_t& part : parts) {
    part = std::bit_cast<std::uint32_t>(narrowed<BFloat16>(Pack<float, 2>{x, y}));
    x -= std::bit_cast<float>(part << 16), y -= std::bit_cast<float>(part & 0xffff0000);
  }
}

template <class Ranks>
struct SideBySide {
  /// A lane's factors: every fourth of the warp's states, of plan lane / 4 of a tile.
  using Values = float[8];
  static constexpr float no_logit = -1e30F;
  const SideJob& job;
  Ranks ranks;
  int n, first, units, plans, warp, lane, unit, plan,
      active;                      ///< unit, plan: of the thread; active: warps that have states
  std::int64_t member, from, row;  ///< the first plan of this group, and its row in the workspace
  unsigned phases = 0;             ///< parity of each barrier's phase, one bit each
  SideMemory m;
  std::uint32_t weights[6][2][3][4];  ///< of 16 units of a gate each: [half of the warp's states][part][word]
  float slope[3], bias;
  unsigned categories;  ///< which of the lane's states are logits, one bit each

  __device__ SideBySide(const SideJob& of, Ranks r)
      : job(of),
        ranks(r),
        n(int(of.size.n)),
        m(reinterpret_cast<float*>(ranks.memory(SideMemory(nullptr, int(of.size.n)).count * sizeof(float))),
          int(of.size.n)) {
    first = ranks.rank() * n / ranks.count(), units = (ranks.rank() + 1) * n / ranks.count() - first;
    warp = ranks.thread() / 32, lane = ranks.thread() % 32;
    unit = ranks.thread() / side_tile, plan = ranks.thread() % side_tile;
    active = m.rows / side_depth;
    if constexpr (Ranks::counts)
      if (ranks.thread() == 0)
        for (int b = 0; b < 2 * side_tiles; ++b)
          ranks.make(barrier(b)), ranks.expect(barrier(b), from_others());
  }
  __device__ void run(std::int64_t group) {
    const std::int64_t parts = job.parts, batch = job.size.batch, part = group % parts;
    member = group / parts;
    from = part * batch / parts;
    row = member * batch + from, plans = int((part + 1) * batch / parts - from);
    load();
    ranks.sync();
    const int tiles = (plans + side_tile - 1) / side_tile;
    for (std::int64_t t = 0; t < job.size.steps; ++t) {
#pragma unroll 1
      for (int tile = 0; tile < tiles; ++tile) gates(t, tile);
#pragma unroll 1
      for (int tile = 0; tile < tiles; ++tile) states(t, tile);
      if (job.before) continue;
      float* const old = m.state;
      m.state = m.other, m.other = old;
    }
#pragma unroll 1
    for (int tile = 0; tile < tiles; ++tile) finish(tile);
    if (job.last)
      each(units * plans, [&](int i) {
        const int p = i / units, own = first + i % units;
        job.last[outer(p) * n + own] = m.state[place(own, p)];
      });
    ranks.sync();
  }

 private:
  template <class F>
  __device__ void each(int count, const F& f) const {
    for (int i = ranks.thread(); i < count; i += side_threads) f(i);
  }
  __device__ std::uint64_t* barrier(int b) const { return reinterpret_cast<std::uint64_t*>(m.barriers) + b; }
  /// Bytes of a tile that other ranks send.
  __device__ int from_others() const { return (n - units) * side_tile * int(sizeof(float)); }
  __device__ int place(int state, int p) const {
    return (p / side_tile * m.rows + state) * side_tile + p % side_tile;
  }
  /// The number of plan p in the arguments.
  __device__ std::int64_t outer(int p) const { return (from + p) * job.size.members + member; }

  __device__ void load() {
    const std::int64_t width = 3 * std::int64_t(n);
    load_weights(job.weights + member * width * n);
    load_heads();
    const float* const of_bias = job.bias ? job.bias + member * width : nullptr;
    const bool there = unit < units;
#pragma unroll
    for (int g = 0; g < 3; ++g) {
      const int gate = g * n + first + unit;
      slope[g] = there ? job.slope[member * width + gate] : 0.F;
      for (int tile = 0; tile < side_tiles; ++tile) {
        const int p = tile * side_tile + plan;
        m.input[(tile * 3 + g) * side_threads + ranks.thread()] =
            there && p < plans
                ? job.u[(row + p) * width + gate] + (of_bias && (g < 2 || job.before) ? of_bias[gate] : 0.F)
                : 0.F;
      }
      for (int j = plan; j < job.planned; j += side_tile)
        m.of_controls[(g * side_controls + j) * side_units + unit] =
            there ? job.weight_controls[(member * width + gate) * job.planned + j] : 0.F;
    }
    bias = there && of_bias && !job.before ? of_bias[2 * n + first + unit] : 0.F;
    each(side_plans * m.rows, [&](int i) {
      const int k = i % m.rows, p = i / m.rows;
      m.state[place(k, p)] = k < n && p < plans ? job.h[outer(p) * n + k] : 0.F;
      m.other[i] = 0;
    });
    each(side_plans, [&](int p) { m.first_loss[p] = p < plans ? job.first_loss[row + p] : 0.F; });
    each(side_controls * side_tile, [&](int i) { m.control[i] = 0; });
  }
  __device__ void load_weights(const float* from_member) {
#pragma unroll
    for (int t = 0; t < 6; ++t)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int word = 0; word < 4; ++word) {
          const int of_tile = t % 2 * 16 + word % 2 * 8 + lane / 4, k = state_of(4 * half + word / 2 * 2);
          const float* const line = from_member + (std::int64_t(t / 2) * n + first + of_tile) * n + k;
          const float x = of_tile < units && k < n ? line[0] : 0.F,
                      y = of_tile < units && k + 4 < n ? line[4] : 0.F;
          std::uint32_t split[3];
          split_pair(x, y, split);
#pragma unroll
          for (int p = 0; p < 3; ++p) weights[t][half][p][word] = split[p];
        }
  }
  /// The state that is element e of the lane's factors.
  __device__ int state_of(int e) const { return warp * side_depth + 4 * e + lane % 4; }
  __device__ void load_heads() {
    const int count = int(job.size.categories);
    // Category i has the state floor(i n / count), so state k has at most the category ceil(k count / n).
    const auto category = [&](int k) {
      const int i = (k * count + n - 1) / n;
      return k < n && i < count && i * n / count == k ? i : -1;
    };
    each(m.rows, [&](int k) {
      const int i = category(k);
      reinterpret_cast<Two*>(m.heads)[k] = {{k < n ? job.head_hidden[member * n + k] : 0.F,
                                             i < 0 ? 0.F : job.head_stochastic[member * count + i]}};
    });
    categories = 0;
#pragma unroll 1
    for (int e = 0; e < 8; ++e) categories |= unsigned(category(state_of(e)) >= 0) << e;
  }
  /// Waits until the other ranks' units of a tile have come.
  __device__ void wait(int tile, int which) {
    if constexpr (Ranks::counts) {
      const int b = 2 * tile + which;
      ranks.wait_for_shares(barrier(b), int(phases >> b & 1));
      phases ^= 1U << b;
      if (ranks.thread() == 0) ranks.expect(barrier(b), from_others());
    }
  }
  /// The barrier that counts the states before step t. If no r h is exchanged between, a rank may send the next states before all of
  /// these have come, so they have the other barrier.
  __device__ int barrier_of_states(std::int64_t t) const { return job.before ? 0 : int(t % 2); }

  __device__ void read(const float* states, int tile, Values& v) const {
#pragma unroll
    for (int e = 0; e < 8; ++e) v[e] = states[(tile * m.rows + state_of(e)) * side_tile + lane / 4];
  }
  /// Multiplies the weights of r and z (Gates = 2) or of n (1) by the warp's states.
  template <int Gates>
  __device__ void products(const Values& v) const {
    std::uint32_t factor[2][3][2];
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int word = 0; word < 2; ++word) {
        std::uint32_t split[3];
        split_pair(v[4 * half + 2 * word], v[4 * half + 2 * word + 1], split);
#pragma unroll
        for (int p = 0; p < 3; ++p) factor[half][p][word] = split[p];
      }
    constexpr int tiles = 2 * Gates, from_tile = Gates == 2 ? 0 : 4, chains = 3 - Gates;
    float sum[chains][tiles][4] = {};
#pragma unroll
    for (int p = 0; p < PartProducts::products; ++p)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int t = 0; t < tiles; ++t)
          multiply_16x8x16<BFloat16>(sum[half % chains][t],
                                     weights[from_tile + t][half][PartProducts::part_of_a(p)],
                                     factor[half][PartProducts::part_of_b(p)]);
#pragma unroll
    for (int t = 0; t < tiles; ++t)
#pragma unroll
      for (int down = 0; down < 2; ++down) {
        Two two{{sum[0][t][2 * down], sum[0][t][2 * down + 1]}};
        if constexpr (chains == 2) two.v[0] += sum[1][t][2 * down], two.v[1] += sum[1][t][2 * down + 1];
        reinterpret_cast<Two*>(m.sums + warp * 2 * side_threads)[(2 * t + down) * 32 + lane] = two;
      }
  }
  /// Adds the sums of all warps, for a gate of the thread's unit and plan.
  __device__ float product(int g) const {
    float all = 0;
#pragma unroll
    for (int w = 0; w < side_warps; ++w)
      if (w < active) all += m.sums[(w * 2 + g) * side_threads + ranks.thread()];
    return all;
  }
  /// The terms of the gates beside the products of the state and of the loss.
  __device__ void outside(int tile, float (&sum)[3]) const {
#pragma unroll
    for (int g = 0; g < 3; ++g) sum[g] = m.input[(tile * 3 + g) * side_threads + ranks.thread()];
#pragma unroll 1
    for (int j = 0; j < job.planned; ++j)
#pragma unroll
      for (int g = 0; g < 3; ++g)
        sum[g] +=
            m.of_controls[(g * side_controls + j) * side_units + unit] * m.control[j * side_tile + plan];
  }
  __device__ float planned_input(std::int64_t t, int tile) const {
    const int p = tile * side_tile + plan;
    return unit < job.planned && p < plans
               ? job.controls[((from + p) * job.size.steps + t) * job.planned + unit]
               : 0.F;
  }
  /// Computes r and z of a tile at step t, and r h if it is multiplied. The losses of the states before are computed with them.
  __device__ void gates(std::int64_t t, int tile) {
    if (t) wait(tile, barrier_of_states(t));
    const float control = planned_input(t, tile);
    if (warp < active) {
      Values v;
      read(m.state, tile, v);
      // One of the two warps that share a scheduler multiplies while the other decodes, which at t = 0 is for nothing.
      if (warp < side_warps / 2) decode_part(v);
      products<2>(v);
      if (warp >= side_warps / 2) decode_part(v);
    }
    if (unit < job.planned) m.control[unit * side_tile + plan] = control;
    ranks.sync_rank();
    float in[3], sums[5] = {}, loss;
    if (warp == 0) {
      loss = t ? decode(sums) : m.first_loss[tile * side_tile + plan];
      if (lane < side_tile) m.loss[plan] = loss;
    }
    outside(tile, in);
    const float of_r = product(0), of_z = product(1);
    ranks.sync_rank();
    loss = m.loss[plan];
    const float r = gate(in[0] + slope[0] * loss + of_r), z = gate(in[1] + slope[1] * loss + of_z);
    const int own = (tile * m.rows + first) * side_tile, thread = ranks.thread();
    m.update[tile * side_threads + thread] = z;
    m.candidate[tile * side_threads + thread] = in[2] + slope[2] * loss;
    if (job.before) {
      if (unit < units) m.other[own + thread] = r * m.state[own + thread];
      share(m.other + own, 2 * tile + 1);
    } else {
      m.reset[tile * side_threads + thread] = r;
      ranks.sync_rank();
    }
    if (t) write(sums, loss, t - 1, tile);
  }
  /// Computes the new states of a tile.
  __device__ void states(std::int64_t t, int tile) {
    if (job.before) wait(tile, 1);
    if (warp < active) {
      Values v;
      read(job.before ? m.other : m.state, tile, v);
      products<1>(v);
    }
    ranks.sync_rank();
    const int own = (tile * m.rows + first) * side_tile, thread = ranks.thread();
    const float z = m.update[tile * side_threads + thread],
                r = job.before ? 1.F : m.reset[tile * side_threads + thread],
                c = std::tanh(m.candidate[tile * side_threads + thread] + r * (product(0) + bias));
    float* const to = job.before ? m.state : m.other;
    if (unit < units) to[own + thread] = (1 - z) * c + z * m.state[own + thread];
    share(to + own, 2 * tile + barrier_of_states(t + 1));
  }
  /// Sends the own units of a tile to the other ranks.
  __device__ void share(float* own, int b) const {
    ranks.share(own, units * side_tile * int(sizeof(float)), barrier(b));
  }
  /// Computes the last losses of a tile.
  __device__ void finish(int tile) {
    wait(tile, barrier_of_states(job.size.steps));
    if (warp < active) {
      Values v;
      read(m.state, tile, v);
      decode_part(v);
    }
    ranks.sync_rank();
    float sums[5];
    const float loss = decode(sums);
    ranks.sync_rank();
    write(sums, loss, job.size.steps - 1, tile);
  }

  __device__ static float larger(float a, float b) { return a < b ? b : a; }
  /// Sums over the warp's states, for the losses: a h, h h, e, e logit and e b, where e is taken below the largest logit.
  __device__ void decode_part(const Values& v) const {
    const auto logit = [&](int e) { return categories >> e & 1 ? v[e] : no_logit; };
    float sum[5] = {}, most = no_logit;
#pragma unroll
    for (int e = 0; e < 8; ++e) most = larger(most, logit(e));
#pragma unroll
    for (int mask = 1; mask < 4; mask *= 2) most = larger(most, __shfl_xor_sync(~0U, most, mask));
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      const float below = logit(e) - most, power = std::exp(below);
      const Two head = reinterpret_cast<const Two*>(m.heads)[state_of(e)];
      sum[0] += v[e] * head.v[0], sum[1] += v[e] * v[e];
      sum[2] += power, sum[3] += power * below, sum[4] += power * head.v[1];
    }
#pragma unroll
    for (int mask = 1; mask < 4; mask *= 2)
#pragma unroll
      for (float& s : sum) s += __shfl_xor_sync(~0U, s, mask);
    float* const to = m.parts + warp * decoded * side_tile + lane / 4;
    if (lane % 4 == 0) {
#pragma unroll
      for (int q = 0; q < 5; ++q) to[q * side_tile] = sum[q];
      to[5 * side_tile] = most;
    }
  }
  /// Adds the sums of all warps for the thread's plan, and returns its loss.
  __device__ float decode(float (&sum)[5]) const {
    constexpr int apart = 32 / side_tile, each_lane = side_warps / apart;
    float part[each_lane][decoded], most = no_logit;
#pragma unroll
    for (int i = 0; i < each_lane; ++i) {
      const int w = lane / side_tile + i * apart;
#pragma unroll
      for (int q = 0; q < decoded; ++q)
        part[i][q] = w < active ? m.parts[(w * decoded + q) * side_tile + plan] : q == 5 ? no_logit : 0.F;
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
#pragma unroll
    for (int mask = side_tile; mask < 32; mask *= 2)
#pragma unroll
      for (float& s : sum) s += __shfl_xor_sync(~0U, s, mask);
    return loss_of(job.size.categories ? sum[0] + sum[4] / sum[2] : sum[0]);
  }
  /// Writes what SideResults completes; each rank writes that of some plans of a tile.
  __device__ void write(const float (&sums)[5], float loss, std::int64_t step, int tile) const {
    const int p = tile * side_tile + plan;
    if (unit || plan % ranks.count() != ranks.rank() || p >= plans) return;
    const std::int64_t at = outer(p) * job.size.steps + step;
    job.outputs.loss[at] = loss, job.outputs.norms[at] = sums[1];
    job.outputs.entropy[at] = sums[2], job.logits[at] = sums[3];
  }
};

template <class Ranks>
__global__ void __launch_bounds__(side_threads, 1) run_side_by_side(SideJob job, Ranks ranks) {
  SideBySide<Ranks> side(job, ranks);
  for (std::int64_t g = ranks.group(), all = job.size.members * job.parts; g < all; g += ranks.groups())
    side.run(g);
}

}  // namespace
}  // namespace kolmo::cuda
