#pragma once
// Rollouts of many plans: each rank (ranks.cuh) holds the weights of up to 32 units in its shared memory, and multiplies them by the
// states of up to 24 plans at once. Float only.
#include "kolmo/ops/recurrent/gru_sequences/ranks.cuh"
#include "kolmo/ops/recurrent/gru_sequences/rollout_steps.hpp"

namespace kolmo::cuda {
namespace {

constexpr int side_threads = 256, side_warps = side_threads / 32;
constexpr int side_plans = 24, side_units = 32, side_gates = 3 * side_units;
constexpr int side_controls = 8;  // planned inputs at most
constexpr int side_line = 28;     // numbers of a row of sums, so that rows of 4 units do not share banks
constexpr int decoded = 6;        // sums of a plan's state, and its largest logit

struct alignas(16) Four {
  float v[4];
};
struct alignas(8) Two {
  float v[2];
};

/// The shared memory of a rank, which has room for n units of state.
struct SideMemory {
  std::size_t count = 0;
  float *weights, *state, *other, *sums, *input, *update, *kept, *slopes, *bias, *loss, *of_controls,
      *control, *head, *parts;

  KOLMO_HD SideMemory(float* memory, int n) {
    const auto take = [&](int size) {
      float* const at = memory ? memory + count : nullptr;
      count += std::size_t(size + 3) / 4 * 4;
      return at;
    };
    weights = take(side_gates * n);                              // [gate][state][unit]
    state = take(side_plans * n), other = take(side_plans * n);  // [state][plan]; r h, or the next state
    sums = take(side_warps * 2 * side_units * side_line);        // [warp][gate][unit][plan]
    input = take(side_gates * side_plans);                       // [gate][unit][plan]
    update = take(side_units * side_plans), kept = take(side_units * side_plans);  // z, r
    slopes = take(side_gates), bias = take(side_units), loss = take(side_plans);
    of_controls = take(side_gates * side_controls), control = take(side_controls * side_plans);
    head = take(n), parts = take(side_warps * decoded * side_plans);
  }
  static std::size_t bytes(std::int64_t n) { return SideMemory(nullptr, int(n)).count * sizeof(float); }
};

struct SideJob {
  RolloutSizes size;
  const float *u, *slope, *first_loss;
  const float *h, *weights, *bias, *head_hidden, *head_stochastic, *controls, *weight_controls;
  int planned;  ///< number of planned inputs
  RolloutOutputs<float> outputs;
  float* last;
  bool before;

  /// The plans of a member are shared out evenly among so many groups of ranks.
  KOLMO_HD std::int64_t groups() const { return (size.batch + side_plans - 1) / side_plans; }
};

template <class Ranks>
struct SideBySide {
  const SideJob& job;
  Ranks ranks;
  int n, first, units, plans, warp, lane;
  std::int64_t member, row;  ///< the first row of the workspace that this group computes
  SideMemory m;

  __device__ SideBySide(const SideJob& of, Ranks r)
      : job(of),
        ranks(r),
        n(int(of.size.n)),
        m(reinterpret_cast<float*>(ranks.memory(SideMemory(nullptr, int(of.size.n)).count * sizeof(float))),
          int(of.size.n)) {
    const int most = (n + ranks.count() - 1) / ranks.count();
    first = min(n, ranks.rank() * most), units = min(most, n - first);
    warp = ranks.thread() / 32, lane = ranks.thread() % 32;
  }
  template <class F>
  __device__ void each(int count, const F& f) const {
    for (int i = ranks.thread(); i < count; i += side_threads) f(i);
  }
  __device__ void run(std::int64_t group) {
    const std::int64_t parts = job.groups(), batch = job.size.batch, part = group % parts;
    member = group / parts;
    const std::int64_t from = part * batch / parts;
    row = member * batch + from, plans = int((part + 1) * batch / parts - from);
    load();
    ranks.sync();
    for (std::int64_t t = 0; t < job.size.steps; ++t) {
      if (t) decode(t - 1);
      each(job.planned * plans, [&](int i) {
        const int p = i / job.planned, j = i % job.planned;
        m.control[j * side_plans + p] =
            job.controls[((row - member * batch + p) * job.size.steps + t) * job.planned + j];
      });
      products<2>(m.state, 0);
      ranks.sync_rank();
      gates();
      job.before ? ranks.sync() : ranks.sync_rank();
      products<1>(job.before ? m.other : m.state, 2);
      ranks.sync_rank();
      states();
      ranks.sync();
      if (job.before) continue;
      float* const old = m.state;
      m.state = m.other, m.other = old;
    }
    decode(job.size.steps - 1);
    if (job.last)
      each(units * plans, [&](int i) {
        const int p = i / units, unit = first + i % units;
        job.last[job.size.outer(row + p) * n + unit] = m.state[unit * side_plans + p];
      });
    ranks.sync();
  }

 private:
  __device__ void load() const {
    const std::int64_t width = 3 * std::int64_t(n);
    const float* const from = job.weights + member * width * n;
    each(side_gates * n, [&](int i) {  // neighbouring threads read neighbouring weights of a unit
      const int k = i % n, unit = i / n % side_units, g = i / n / side_units;
      m.weights[(g * n + k) * side_units + unit] =
          unit < units ? from[(std::int64_t(g) * n + first + unit) * n + k] : 0.F;
    });
    const float* const of_bias = job.bias ? job.bias + member * width : nullptr;
    each(side_gates * side_plans, [&](int i) {
      const int p = i % side_plans, at = i / side_plans, g = at / side_units, unit = at % side_units,
                gate = g * n + first + unit;
      const bool there = unit < units && p < plans;
      m.input[i] =
          there ? job.u[(row + p) * width + gate] + (of_bias && (g < 2 || job.before) ? of_bias[gate] : 0.F)
                : 0.F;
    });
    each(side_gates, [&](int i) {
      const int g = i / side_units, unit = i % side_units, gate = g * n + first + unit;
      m.slopes[i] = unit < units ? job.slope[member * width + gate] : 0.F;
      if (g == 2) m.bias[unit] = unit < units && of_bias && !job.before ? of_bias[gate] : 0.F;
      for (int j = 0; j < job.planned; ++j)
        m.of_controls[i * side_controls + j] =
            unit < units ? job.weight_controls[(member * width + gate) * job.planned + j] : 0.F;
    });
    each(side_plans * n, [&](int i) {
      const int k = i % n, p = i / n;
      m.state[k * side_plans + p] = p < plans ? job.h[job.size.outer(row + p) * n + k] : 0.F;
      m.other[i] = 0;
    });
    each(side_plans, [&](int p) { m.loss[p] = p < plans ? job.first_loss[row + p] : 0.F; });
    each(side_controls * side_plans, [&](int i) { m.control[i] = 0; });
    each(n, [&](int i) { m.head[i] = job.head_hidden[member * n + i]; });
  }
  /// Multiplies the weights of Gates gates, from `gate` on, by states. A warp sums over its share of the states, a thread for 4 units
  /// and 6 plans.
  template <int Gates>
  __device__ void products(const float* h, int gate) const {
    const int unit = lane / 4 * 4, plan = lane % 4, share = (n + side_warps - 1) / side_warps,
              end = min(n, (warp + 1) * share);
    float sum[Gates][4][6] = {};
    const auto add = [&](int k) {
      const Four a = *reinterpret_cast<const Four*>(h + k * side_plans + 4 * plan);
      const Two b = *reinterpret_cast<const Two*>(h + k * side_plans + 16 + 2 * plan);
#pragma unroll
      for (int g = 0; g < Gates; ++g) {
        const Four w = *reinterpret_cast<const Four*>(m.weights + ((gate + g) * n + k) * side_units + unit);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int p = 0; p < 4; ++p) sum[g][i][p] += w.v[i] * a.v[p];
#pragma unroll
          for (int p = 0; p < 2; ++p) sum[g][i][4 + p] += w.v[i] * b.v[p];
        }
      }
    };
#pragma unroll 4
    for (int k = warp * share; k < end; ++k) add(k);
#pragma unroll
    for (int g = 0; g < Gates; ++g)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float* const to = m.sums + ((warp * 2 + g) * side_units + unit + i) * side_line;
        const auto& s = sum[g][i];
        *reinterpret_cast<Four*>(to + 4 * plan) = Four{{s[0], s[1], s[2], s[3]}};
        *reinterpret_cast<Two*>(to + 16 + 2 * plan) = Two{{s[4], s[5]}};
      }
  }
  /// Calls f(unit, plan) for the first of 4 plans of every unit.
  template <class F>
  __device__ void quads(const F& f) const {
    constexpr int in_line = side_plans / 4;
    each(units * in_line, [&](int i) { f(i / in_line, i % in_line * 4); });
  }
  /// Adds the sums of all warps of product `g` for 4 plans.
  __device__ Four product(int g, int unit, int plan) const {
    Four all{};
#pragma unroll
    for (int w = 0; w < side_warps; ++w) {
      const Four one =
          *reinterpret_cast<const Four*>(m.sums + ((w * 2 + g) * side_units + unit) * side_line + plan);
      for (int p = 0; p < 4; ++p) all.v[p] += one.v[p];
    }
    return all;
  }
  /// What a gate has beside the product of the state.
  __device__ float outside(int g, int unit, int plan) const {
    const int at = g * side_units + unit;
    float sum = m.input[at * side_plans + plan] + m.slopes[at] * m.loss[plan];
    for (int j = 0; j < job.planned; ++j)
      sum += m.of_controls[at * side_controls + j] * m.control[j * side_plans + plan];
    return sum;
  }
  __device__ void send(float* at, const Four& value) const {
    for (int to = 0; to < ranks.count(); ++to) ranks.store(reinterpret_cast<Four*>(at), to, value);
  }
  __device__ void gates() const {
    quads([&](int unit, int plan) {
      const Four of_r = product(0, unit, plan), of_z = product(1, unit, plan);
      const int own = (first + unit) * side_plans + plan, here = unit * side_plans + plan;
      Four rh;
#pragma unroll
      for (int p = 0; p < 4; ++p) {
        const float r = gate(outside(0, unit, plan + p) + of_r.v[p]);
        m.update[here + p] = gate(outside(1, unit, plan + p) + of_z.v[p]);
        m.kept[here + p] = r, rh.v[p] = r * m.state[own + p];
      }
      if (job.before) send(m.other + own, rh);
    });
  }
  /// Computes the new states. If the reset comes before the product, no rank reads old ones any more but its own.
  __device__ void states() const {
    quads([&](int unit, int plan) {
      const Four v = product(0, unit, plan);
      const int own = (first + unit) * side_plans + plan, here = unit * side_plans + plan;
      Four next;
#pragma unroll
      for (int p = 0; p < 4; ++p) {
        const float z = m.update[here + p], r = job.before ? 1.F : m.kept[here + p],
                    c = std::tanh(outside(2, unit, plan + p) + r * (v.v[p] + m.bias[unit]));
        next.v[p] = (1 - z) * c + z * m.state[own + p];
      }
      send((job.before ? m.state : m.other) + own, next);
    });
  }
  __device__ int logit(int i) const {
    return job.size.categories == n ? i : int(std::int64_t(i) * n / job.size.categories);
  }
  /// Computes the losses of new states. A lane has a plan; a warp its shares of the states and the categories.
  __device__ void decode(std::int64_t t) const {
    const int count = int(job.size.categories), share = (n + side_warps - 1) / side_warps,
              of_categories = (count + side_warps - 1) / side_warps;
    const float* const b = job.head_stochastic + member * job.size.categories;
    const auto part = [&](int w, int q, int p) -> float& {
      return m.parts[(w * decoded + q) * side_plans + p];
    };
    if (lane < side_plans) {
      const auto h = [&](int k) { return m.state[k * side_plans + lane]; };
      float sum[5] = {}, most = h(0);
      const int end = min(n, (warp + 1) * share), last = min(count, (warp + 1) * of_categories);
#pragma unroll 4
      for (int k = warp * share; k < end; ++k) sum[0] += h(k) * m.head[k], sum[1] += h(k) * h(k);
#pragma unroll 4
      for (int i = warp * of_categories; i < last; ++i) most = most < h(logit(i)) ? h(logit(i)) : most;
#pragma unroll 4
      for (int i = warp * of_categories; i < last; ++i) {
        const float below = h(logit(i)) - most, e = std::exp(below);
        sum[2] += e, sum[3] += e * below, sum[4] += e * b[i];
      }
      for (int q = 0; q < 5; ++q) part(warp, q, lane) = sum[q];
      part(warp, 5, lane) = most;
    }
    ranks.sync_rank();
    each(plans, [&](int p) {
      float sum[5] = {}, most = part(0, 5, p);
      for (int w = 1; w < side_warps; ++w) most = most < part(w, 5, p) ? part(w, 5, p) : most;
      for (int w = 0; w < side_warps; ++w) {
        const float below = part(w, 5, p) - most, scale = std::exp(below);
        sum[0] += part(w, 0, p), sum[1] += part(w, 1, p), sum[2] += scale * part(w, 2, p);
        sum[3] += scale * (part(w, 3, p) + below * part(w, 2, p)), sum[4] += scale * part(w, 4, p);
      }
      const float loss = loss_of(count ? sum[0] + sum[4] / sum[2] : sum[0]);
      m.loss[p] = loss;
      if (p % ranks.count() == ranks.rank())
        job.outputs.write(job.size.outer(row + p) * job.size.steps + t, double(loss), double(sum[1]),
                          count ? double(std::log(sum[2]) - sum[3] / sum[2]) : 0);
    });
  }
};

template <class Ranks>
__global__ void __launch_bounds__(side_threads, 1) run_side_by_side(SideJob job, Ranks ranks) {
  SideBySide<Ranks> side(job, ranks);
  for (std::int64_t g = ranks.group(), all = job.size.members * job.groups(); g < all; g += ranks.groups())
    side.run(g);
}

}  // namespace
}  // namespace kolmo::cuda
