#pragma once
// Rollouts of many plans on tensor cores. Each rank (ranks.cuh) holds the weights of up to 32 units in its registers, and multiplies them
// by the states of up to three tiles of 8 plans. All tiles are in the same phase of a step, so that its latencies count once for all.
// A rank multiplies a tile while those after it are still under way from the other ranks. It adds the loss's sums over its own units,
// and sends them as well; one warp for each tile computes the losses while the others multiply. Float only.
#include "kolmo/device/mma.cuh"
#include "kolmo/ops/recurrent/gru_sequences/ranks.cuh"
#include "kolmo/ops/recurrent/gru_sequences/side_factors.cuh"
#include "kolmo/ops/recurrent/gru_sequences/side_losses.cuh"

namespace kolmo::cuda {
namespace {

template <class Ranks>
struct SideBySide {
  enum Gate { reset, update, candidate };  // r, z, n
  const SideJob& job;
  Ranks ranks;
  int n, first, units, plans, tiles, warp, lane, unit, plan,
      active;                      ///< unit, plan: of the thread; active: warps that have states
  std::int64_t member, from, row;  ///< the first plan of this group, and its row in the workspace
  unsigned phases = 0;             ///< parity of each barrier's phase, one bit each
  SideMemory m;
  SideWeights weights;
  float slope[3], unscale[3], bias;  ///< of the thread's unit; unscale: of its sums of scaled weights
  SideHead head;

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
    weights.warp = warp, weights.lane = lane;
    if constexpr (Ranks::counts)
      if (ranks.thread() == 0)
        for (int b = 0; b < side_barriers * side_tiles; ++b)
          ranks.make(barrier(b)), ranks.expect(barrier(b), from_others(b % side_barriers));
  }
  __device__ void run(std::int64_t group) {
    const std::int64_t parts = job.parts, batch = job.size.batch, part = group % parts;
    member = group / parts;
    from = part * batch / parts;
    row = member * batch + from, plans = int((part + 1) * batch / parts - from);
    tiles = (plans + side_tile - 1) / side_tile;
    load();
    ranks.sync();
    store_controls(planned_input(0));
    ranks.sync_rank();
    if (tiles == 1) all_steps<1>();
    if (tiles == 2) all_steps<2>();
    if (tiles == 3) all_steps<3>();
    if (job.last)
      each(units * plans, [&](int i) {
        const int p = i / units, own = first + i % units;
        job.last[outer(p) * n + own] = m.state[place(own, p)] * m.scales[side_plans + p];
      });
    ranks.sync();
  }

 private:
  template <class F>
  __device__ void each(int count, const F& f) const {
    for (int i = ranks.thread(); i < count; i += side_threads) f(i);
  }
  __device__ std::uint64_t* barrier(int b) const { return reinterpret_cast<std::uint64_t*>(m.barriers) + b; }
  /// Bytes of a tile that come: states or r h of the other ranks, or the sums of all ranks.
  __device__ int from_others(int which) const {
    const int rows = which < of_sums ? n - units : ranks.count() * decoded;
    return rows * side_tile * int(sizeof(float));
  }
  __device__ int place(int state, int p) const {
    return (p / side_tile * m.rows + state) * side_tile + p % side_tile;
  }
  /// The place of the thread's unit and plan of a tile in the states.
  __device__ int own_place(int tile) const { return (tile * m.rows + first) * side_tile + ranks.thread(); }
  /// The number of plan p in the arguments.
  __device__ std::int64_t outer(int p) const { return (from + p) * job.size.members + member; }

  __device__ void load() {
    const std::int64_t width = 3 * std::int64_t(n);
    load_head();
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
    each(side_controls * side_plans, [&](int i) { m.control[i] = 0; });
    each(side_tiles * side_warps * 2 * side_threads, [&](int i) { m.sums[i] = 0; });
    each(3 * side_units, [&](int i) { m.largest[i] = 0; });
    ranks.sync_rank();
    weights.load(job.weights + (member * width + first) * n, n, units, m.largest);
    scale_states();
    ranks.sync_rank();
    each(side_plans * m.rows,
         [&](int i) { m.state[i] *= m.scales[i / (m.rows * side_tile) * side_tile + i % side_tile]; });
    weights.split(m.largest);
#pragma unroll
    for (int g = 0; g < 3; ++g) unscale[g] = 1 / SideWeights::scale_of(m.largest, g, unit);
  }
  /// Chooses the scale of the states of each plan, which stay below the largest to begin with, or 1.
  __device__ void scale_states() const {
    float most = 1;
#pragma unroll 8
    for (int k = plan; unit < plans && k < n; k += side_tile)
      most = fmaxf(most, fabsf(m.state[place(k, unit)]));
#pragma unroll
    for (int mask = 1; mask < side_tile; mask *= 2) most = fmaxf(most, __shfl_xor_sync(~0U, most, mask));
    if (unit >= side_plans || plan) return;
    m.scales[unit] = scale_for(most), m.scales[side_plans + unit] = 1 / scale_for(most);
  }
  __device__ void load_head() {
    const int count = int(job.size.categories), k = first + unit;
    const bool there = unit < units;
    // Category i has the state floor(i n / count), so state k has at most the category ceil(k count / n).
    const int i = (k * count + n - 1) / n;
    head.logit = there && i < count && i * n / count == k;
    head.of_state = there ? job.head_hidden[member * n + k] : 0.F;
    head.of_category = head.logit ? job.head_stochastic[member * count + i] : 0.F;
  }
  /// Waits until the other ranks' units of a tile have come.
  __device__ void wait(int tile, int which) {
    if constexpr (Ranks::counts) {
      const int b = side_barriers * tile + which;
      ranks.wait_for_shares(barrier(b), int(phases >> b & 1));
      phases ^= 1U << b;
      if (ranks.thread() == 0) ranks.expect(barrier(b), from_others(which));
    }
  }
  /// Waits until the other ranks' sums of the warp's tile have come; the others of its threads do not wait.
  __device__ void wait_for_sums(int which) {
    if constexpr (Ranks::counts) {
      const int b = side_barriers * warp + of_sums + which;
      ranks.wait(barrier(b), int(phases >> b & 1));
      phases ^= 1U << b;
      if (lane == 0) ranks.expect(barrier(b), from_others(of_sums));
    } else {
      __syncwarp();
    }
  }
  /// The barrier that counts the states before step t, and the place of their sums.
  __device__ int barrier_of_states(std::int64_t t) const { return job.before ? 0 : int(t % 2); }

  /// Sums of products with the weights of a gate, in two chains, which overlap: [half of the warp's states][16 units][element].
  using Sums = float[2][2][4];
  /// The sums of a warp's products for a tile. There is one place for z, and one for r, which n takes later.
  __device__ float* sums_of(int tile, int of_warp, Gate g) const {
    return m.sums + ((tile * side_warps + of_warp) * 2 + (g == update)) * side_threads;
  }
  /// Multiplies the weights of `Gates` gates from `First` on by the warp's states of all tiles; arrived(tile) waits for a tile.
  template <Gate First, int Gates, int Tiles, class Arrived>
  __device__ void multiply(const float* states, const Arrived& arrived) const {
    Sums sum[Gates];
    const auto store = [&](int tile) {
#pragma unroll
      for (int g = 0; g < Gates; ++g)
#pragma unroll
        for (int t = 0; t < 2; ++t)
#pragma unroll
          for (int down = 0; down < 2; ++down)
            reinterpret_cast<Two*>(sums_of(tile, warp, Gate(First + g)))[(2 * t + down) * 32 + lane] =
                Two{{sum[g][0][t][2 * down] + sum[g][1][t][2 * down],
                     sum[g][0][t][2 * down + 1] + sum[g][1][t][2 * down + 1]}};
    };
#pragma unroll
    for (int tile = 0; tile < Tiles; ++tile) {
      arrived(tile);
      if (warp >= active) continue;
      StateFactors factor;
      read_factors(states + tile * m.rows * side_tile, warp, lane, factor);
      if (tile) store(tile - 1);  // those of the tile before, which were under way
#pragma unroll
      for (int g = 0; g < Gates; ++g)
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int t = 0; t < 2; ++t)
#pragma unroll
            for (float& one : sum[g][half][t]) one = 0;
              // The product of the lower parts is left out, and the largest comes last.
#pragma unroll
      for (int p = 0; p < 3; ++p)
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int g = 0; g < Gates; ++g)
#pragma unroll
            for (int t = 0; t < 2; ++t)
              multiply_16x8x16<Half>(sum[g][half][t], weights.word[2 * (First + g) + t][half][p == 0],
                                     factor[half][p == 1]);
    }
    if (warp < active) store(Tiles - 1);
  }
  /// Adds the sums of all warps, for a gate of the thread's unit and plan of a tile.
  __device__ float product(int tile, Gate g) const {
    float all = 0;
#pragma unroll
    for (int w = 0; w < side_warps; ++w) all += sums_of(tile, w, g)[ranks.thread()];
    return all * unscale[g] * m.scales[side_plans + tile * side_tile + plan];
  }
  /// The terms of a gate beside the product of the state.
  __device__ float outside(int tile, Gate g) const {
    return m.planned[(tile * 3 + g) * side_threads + ranks.thread()] +
           slope[g] * m.loss[tile * side_tile + plan];
  }
  /// Reads the planned inputs of step t, of which a thread has at most one.
  __device__ float planned_input(std::int64_t t) const {
    const int p = ranks.thread() / side_controls, j = ranks.thread() % side_controls;
    return p < plans && j < job.planned && t < job.size.steps
               ? job.controls[((from + p) * job.size.steps + t) * job.planned + j]
               : 0.F;
  }

  __device__ void store_controls(float control) const {
    if (ranks.thread() < side_plans * side_controls)
      m.control[ranks.thread() % side_controls * side_plans + ranks.thread() / side_controls] = control;
  }
  /// Adds the planned inputs to the other inputs of the gates.
  template <int Tiles>
  __device__ void add_controls() const {
    const int thread = ranks.thread();
    float sum[3 * Tiles];
#pragma unroll
    for (int i = 0; i < 3 * Tiles; ++i) sum[i] = m.input[i * side_threads + thread];
#pragma unroll 1
    for (int j = 0; j < job.planned; ++j)
#pragma unroll
      for (int tile = 0; tile < Tiles; ++tile)
#pragma unroll
        for (int g = 0; g < 3; ++g)
          sum[tile * 3 + g] += m.of_controls[(g * side_controls + j) * side_units + unit] *
                               m.control[j * side_plans + tile * side_tile + plan];
#pragma unroll
    for (int i = 0; i < 3 * Tiles; ++i) m.planned[i * side_threads + thread] = sum[i];
  }

  template <int Tiles>
  __device__ void all_steps() {
    add_controls<Tiles>();
    for (std::int64_t t = 0; t < job.size.steps; ++t) {
      gate_states<Tiles>(t);
      next_states<Tiles>(t);
      if (job.before) continue;
      float* const old = m.state;
      m.state = m.other, m.other = old;
    }
    for (int tile = 0; tile < Tiles; ++tile) wait(tile, barrier_of_states(job.size.steps));
    if (warp >= Tiles) return;
    float sums[5];
    const float loss = decode(barrier_of_states(job.size.steps), sums);
    write(sums, loss, job.size.steps - 1);
  }
  /// Computes r at step t, and sends r h if it is multiplied. The losses of the states before are computed with it, each tile by a warp.
  template <int Tiles>
  __device__ void gate_states(std::int64_t t) {
    float sums[5] = {}, loss = 0;
    multiply<reset, 2, Tiles>(m.state, [&](int tile) {
      if (t) wait(tile, barrier_of_states(t));
      if (tile != Tiles - 1 || warp >= Tiles) return;
      loss = t ? decode(barrier_of_states(t), sums) : m.first_loss[warp * side_tile + plan];
      if (lane < side_tile) m.loss[warp * side_tile + plan] = loss;
    });
    ranks.sync_rank();
    float r[Tiles];  // of all tiles before one is stored, so that they overlap
#pragma unroll
    for (int tile = 0; tile < Tiles; ++tile) {
      r[tile] = quick_gate(outside(tile, reset) + product(tile, reset));
      if (job.before) r[tile] *= m.state[own_place(tile)];
    }
#pragma unroll
    for (int tile = 0; tile < Tiles; ++tile)
      if (!job.before)
        m.reset[tile * side_threads + ranks.thread()] = r[tile];
      else if (unit < units)
        m.other[own_place(tile)] = r[tile];
    ranks.before_sharing();
    if (job.before) share<Tiles>(m.other, 1);
    if (t && warp < Tiles) write(sums, loss, t - 1);
  }
  /// Computes the new states.
  template <int Tiles>
  __device__ void next_states(std::int64_t t) {
    const float control = planned_input(t + 1);
    multiply<candidate, 1, Tiles>(job.before ? m.other : m.state, [&](int tile) {
      if (job.before) wait(tile, 1);
    });
    store_controls(control);
    ranks.sync_rank();
    float* const to = job.before ? m.state : m.other;
    float next[Tiles];
#pragma unroll
    for (int tile = 0; tile < Tiles; ++tile) {
      const float z = quick_gate(outside(tile, update) + product(tile, update)),
                  r = job.before ? 1.F : m.reset[tile * side_threads + ranks.thread()],
                  c = quick_tanh(outside(tile, candidate) + r * (product(tile, candidate) + bias));
      next[tile] = (1 - z) * c * m.scales[tile * side_tile + plan] + z * m.state[own_place(tile)];
    }
#pragma unroll
    for (int tile = 0; tile < Tiles; ++tile) {
      if (unit < units) to[own_place(tile)] = next[tile];
      next[tile] *= unit < units ? m.scales[side_plans + tile * side_tile + plan] : 0.F;
    }
    constexpr int of_warp = decoded * side_tile;
    sum_units(next, head, lane, m.of_warps + warp * of_warp, side_warps * of_warp);
    ranks.before_sharing();
    share<Tiles>(to, barrier_of_states(t + 1));
    const int tile = Ranks::counts ? side_warps - 1 - warp : warp;  // not the warp that decodes
    if (tile < Tiles) share_sums(tile, barrier_of_states(t + 1));
    add_controls<Tiles>();
  }
  /// Sends the own units of all tiles to the other ranks.
  template <int Tiles>
  __device__ void share(float* states, int which) const {
#pragma unroll 1
    for (int tile = 0; tile < Tiles; ++tile)
      ranks.share(states + place(first, tile * side_tile), units * side_tile * int(sizeof(float)),
                  barrier(side_barriers * tile + which));
  }

  /// The sums of all ranks for a tile.
  __device__ float* of_ranks(int tile, int which) const {
    return m.of_ranks + (which * side_tiles + tile) * side_ranks * decoded * side_tile;
  }
  /// Sends the sums of the own units of a tile to the other ranks.
  __device__ void share_sums(int tile, int which) const {
    float sum[5];
    const float most =
        add_groups<side_warps>(m.of_warps + tile * side_warps * decoded * side_tile, lane, sum);
    float* const own = of_ranks(tile, which) + ranks.rank() * decoded * side_tile + plan;
#pragma unroll
    for (int to = lane / side_tile; to < side_ranks; to += 32 / side_tile)
      if (to < ranks.count()) {
#pragma unroll
        for (int q = 0; q < decoded; ++q)
          ranks.store(own + q * side_tile, to, q < 5 ? sum[q] : most,
                      barrier(side_barriers * tile + of_sums + which));
      }
  }
  /// Adds the sums of all ranks for the thread's plan of the warp's tile, and returns its loss.
  __device__ float decode(int which, float (&sum)[5]) {
    wait_for_sums(which);
    add_groups<Ranks::counts ? side_ranks : 1>(of_ranks(warp, which), lane, sum);
    return loss_of(job.size.categories ? sum[0] + quotient(sum[4], sum[2]) : sum[0]);
  }
  /// Writes the results of the warp's tile; each rank writes those of some plans.
  __device__ void write(const float (&sums)[5], float loss, std::int64_t step) const {
    const int p = warp * side_tile + plan;
    if (lane >= side_tile || plan % ranks.count() != ranks.rank() || p >= plans) return;
    const std::int64_t at = outer(p) * job.size.steps + step;
    job.outputs.loss[at] = loss, job.outputs.norms[at] = std::sqrt(sums[1]);
    job.outputs.entropy[at] = job.size.categories ? std::log(sums[2]) - sums[3] / sums[2] : 0.F;
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
