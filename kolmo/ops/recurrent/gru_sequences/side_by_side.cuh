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
constexpr int decoded_plans = 4;  // whose losses a rank computes at once; the last has no plan
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
      *control, *head, *of_category, *parts;

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
    head = take(n), of_category = take(n), parts = take(side_warps * decoded * decoded_plans);
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
  std::int64_t member, from, row;  ///< the first plan of this group, and its row in the workspace
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
    from = part * batch / parts;
    row = member * batch + from, plans = int((part + 1) * batch / parts - from);
    load();
    ranks.sync();
    for (std::int64_t t = 0; t < job.size.steps; ++t) {
      if (t) decode(t - 1);
      each(job.planned * plans, [&](int i) {
        const int p = i / job.planned, j = i % job.planned;
        m.control[j * side_plans + p] = job.controls[((from + p) * job.size.steps + t) * job.planned + j];
      });
      ranks.arrive();
      products<2>(m.state, 0);
      ranks.wait_for_all();  // for the losses, which other ranks have sent meanwhile
      ranks.sync_rank();     // for the products, which came after the arrival
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
        job.last[outer(p) * n + unit] = m.state[unit * side_plans + p];
      });
    ranks.sync();
  }

 private:
  __device__ void load() const {
    const std::int64_t width = 3 * std::int64_t(n);
    const float* const weights = job.weights + member * width * n;
    for (int i = warp; i < 3 * ((n + 3) / 4); i += side_warps) {  // a lane loads weights of its unit
      const int g = i % 3, k = i / 3 * 4;
      const float* const line = weights + (std::int64_t(g) * n + first + lane) * n + k;
      float four[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) four[j] = lane < units && k + j < n ? line[j] : 0.F;
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (k + j < n) m.weights[(g * n + k + j) * side_units + lane] = four[j];
    }
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
      m.state[k * side_plans + p] = p < plans ? job.h[outer(p) * n + k] : 0.F;
      m.other[i] = 0;
    });
    each(side_plans, [&](int p) { m.loss[p] = p < plans ? job.first_loss[row + p] : 0.F; });
    each(side_controls * side_plans, [&](int i) { m.control[i] = 0; });
    each(n, [&](int i) { m.head[i] = job.head_hidden[member * n + i]; });
    each(int(job.size.categories),
         [&](int i) { m.of_category[i] = job.head_stochastic[member * job.size.categories + i]; });
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
  __device__ static Four four(const float* p) { return *reinterpret_cast<const Four*>(p); }
  /// The terms of a gate beside the product of the state, for 4 plans.
  __device__ Four outside(int g, int unit, int plan) const {
    const int at = g * side_units + unit;
    Four sum = four(m.input + at * side_plans + plan);
    const auto add = [&](float weight, const Four& value) {
#pragma unroll
      for (int p = 0; p < 4; ++p) sum.v[p] += weight * value.v[p];
    };
    add(m.slopes[at], four(m.loss + plan));
    for (int j = 0; j < job.planned; ++j)
      add(m.of_controls[at * side_controls + j], four(m.control + j * side_plans + plan));
    return sum;
  }
  __device__ void send(float* at, const Four& value) const {
    for (int to = 0; to < ranks.count(); ++to) ranks.store(reinterpret_cast<Four*>(at), to, value);
  }
  __device__ void gates() const {
    quads([&](int unit, int plan) {
      const Four of_r = product(0, unit, plan), of_z = product(1, unit, plan), in_r = outside(0, unit, plan),
                 in_z = outside(1, unit, plan);
      const int own = (first + unit) * side_plans + plan, here = unit * side_plans + plan;
      const Four h = four(m.state + own);
      Four rh, r, z;
#pragma unroll
      for (int p = 0; p < 4; ++p) {
        r.v[p] = gate(in_r.v[p] + of_r.v[p]), z.v[p] = gate(in_z.v[p] + of_z.v[p]);
        rh.v[p] = r.v[p] * h.v[p];
      }
      *reinterpret_cast<Four*>(m.update + here) = z;
      if (job.before)
        send(m.other + own, rh);
      else
        *reinterpret_cast<Four*>(m.kept + here) = r;
    });
  }
  /// Computes the new states. If the reset comes before the product, no rank reads old ones any more but its own.
  __device__ void states() const {
    quads([&](int unit, int plan) {
      const Four v = product(0, unit, plan), in = outside(2, unit, plan);
      const int own = (first + unit) * side_plans + plan, here = unit * side_plans + plan;
      const Four h = four(m.state + own), z = four(m.update + here),
                 r = job.before ? Four{{1, 1, 1, 1}} : four(m.kept + here);
      Four next;
#pragma unroll
      for (int p = 0; p < 4; ++p) {
        const float c = std::tanh(in.v[p] + r.v[p] * (v.v[p] + m.bias[unit]));
        next.v[p] = (1 - z.v[p]) * c + z.v[p] * h.v[p];
      }
      send((job.before ? m.state : m.other) + own, next);
    });
  }
  __device__ int logit(int i) const {
    return job.size.categories == n ? i : int(std::int64_t(i) * n / job.size.categories);
  }
  /// The number of plan p in the arguments.
  __device__ std::int64_t outer(int p) const { return (from + p) * job.size.members + member; }
  /// Computes the losses of new states and sends them to all ranks, each of which computes those of its share of the plans.
  __device__ void decode(std::int64_t t) const {
    const int share = (side_plans + ranks.count() - 1) / ranks.count(), begin = ranks.rank() * share,
              end = min(plans, begin + share);
    for (int p = begin; p < end; p += decoded_plans - 1) {
      decode(t, p, min(end - p, decoded_plans - 1));
      ranks.sync_rank();
    }
  }
  /// Does so for `some` plans from p on. A lane has a plan and every 64th state and category.
  __device__ void decode(std::int64_t t, int p, int some) const {
    const int count = int(job.size.categories), own = lane % decoded_plans,
              place = warp * 8 + lane / decoded_plans;
    const auto part = [&](int w, int q, int plan) -> float& {
      return m.parts[(w * decoded + q) * decoded_plans + plan];
    };
    const auto h = [&](int k) { return m.state[k * side_plans + p + (own < some ? own : 0)]; };
    float sum[5] = {}, most = h(0);
#pragma unroll 4
    for (int k = place; k < n; k += 64) sum[0] += h(k) * m.head[k], sum[1] += h(k) * h(k);
#pragma unroll 4
    for (int i = place; i < count; i += 64) most = most < h(logit(i)) ? h(logit(i)) : most;
#pragma unroll
    for (int mask = decoded_plans; mask < 32; mask *= 2) {
      const float other = __shfl_xor_sync(~0u, most, mask);
      most = most < other ? other : most;
    }
#pragma unroll 4
    for (int i = place; i < count; i += 64) {
      const float below = h(logit(i)) - most, e = std::exp(below);
      sum[2] += e, sum[3] += e * below, sum[4] += e * m.of_category[i];
    }
#pragma unroll
    for (int mask = decoded_plans; mask < 32; mask *= 2)
#pragma unroll
      for (float& s : sum) s += __shfl_xor_sync(~0u, s, mask);
    if (lane < decoded_plans) {
#pragma unroll
      for (int q = 0; q < 5; ++q) part(warp, q, own) = sum[q];
      part(warp, 5, own) = most;
    }
    ranks.sync_rank();
    if (warp) return;
    // The lanes with the same plan have a warp's part each.
    const int w = lane / decoded_plans;
    const float its = part(w, 5, own);
    most = its;
#pragma unroll
    for (int mask = decoded_plans; mask < 32; mask *= 2) {
      const float other = __shfl_xor_sync(~0u, most, mask);
      most = most < other ? other : most;
    }
    const float below = its - most, scale = std::exp(below);
    sum[0] = part(w, 0, own), sum[1] = part(w, 1, own), sum[2] = scale * part(w, 2, own);
    sum[3] = scale * (part(w, 3, own) + below * part(w, 2, own)), sum[4] = scale * part(w, 4, own);
#pragma unroll
    for (int mask = decoded_plans; mask < 32; mask *= 2)
#pragma unroll
      for (float& s : sum) s += __shfl_xor_sync(~0u, s, mask);
    if (own >= some) return;
    const float loss = loss_of(count ? sum[0] + sum[4] / sum[2] : sum[0]);
    for (int to = w; to < ranks.count(); to += 8) ranks.store(m.loss + p + own, to, loss);
    if (w) return;
    const std::int64_t at = outer(p + own) * job.size.steps + t;
    job.outputs.loss[at] = loss, job.outputs.norms[at] = std::sqrt(sum[1]);
    job.outputs.entropy[at] = count ? std::log(sum[2]) - sum[3] / sum[2] : 0.F;
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
