#pragma once
// A GRU whose recurrent weights stay in the shared memory or the registers of ranks (ranks.cuh) for all steps. Each
// rank has a share of the units and all of the state. Anonymous namespace: see device/grid.cuh.
#include "kolmo/device/async.cuh"
#include "kolmo/device/warp.cuh"
#include "kolmo/ops/nn/gru_sequences/ranks.cuh"
#include "kolmo/ops/nn/gru_sequences/rollout_steps.hpp"

namespace kolmo::cuda {
namespace {

/// Weights in registers: of `units` units a warp, and `columns` states a lane. Held<0, 0>: in shared memory.
template <int Units, int Columns>
struct Held {
  static constexpr int units = Units, columns = Columns;
};
using InShared = Held<0, 0>;

/// A share of the units, and where its numbers are in a rank's shared memory.
struct Share {
  int n, most, warps;  ///< units of all ranks, the most of one, warps of one
  bool held;           ///< weights are in registers

  KOLMO_HD Share(std::int64_t units, int ranks, int threads, bool in_registers)
      : n(int(units)), most((int(units) + ranks - 1) / ranks), warps(threads / 32), held(in_registers) {}
  template <class T>
  KOLMO_HD std::size_t weights() const {
    return held ? 0 : (std::size_t(3 * most) * std::size_t(n) * sizeof(T) + 15) / 16 * 16;
  }
  /// Bytes of weights, states before and after, r h, two sets of gate inputs, bias, z, sums of warps.
  template <class T>
  KOLMO_HD std::size_t bytes() const {
    const std::size_t numbers = std::size_t(3 * n + 10 * most + 5 * warps);
    return weights<T>() + (numbers * sizeof(Compute<T>) + 15) / 16 * 16;
  }
};

template <class T, class Ranks, class Hold = InShared>
struct ResidentGru {
  using C = Compute<T>;
  static constexpr bool held = Hold::units > 0;
  static constexpr int at_once = held ? Hold::units : 1;  ///< units of a warp
  Ranks ranks;
  int n, first, units, most, warp, lane;
  bool before;
  T* weights;
  C *state, *next, *reset, *input, *bias, *update, *sums;
  C registers[at_once][3][held ? Hold::columns : 1];
  static constexpr int warps = Ranks::threads / 32;

  __device__ ResidentGru(std::int64_t all, bool reset_before) : before(reset_before) {
    const Share share(all, ranks.count(), Ranks::threads, held);
    n = share.n, most = share.most;
    first = min(n, ranks.rank() * most), units = min(most, n - first);
    warp = ranks.thread() / 32, lane = ranks.thread() % 32;
    unsigned char* const memory = ranks.memory(share.template bytes<T>());
    weights = reinterpret_cast<T*>(memory);
    state = reinterpret_cast<C*>(memory + share.template weights<T>());
    next = state + n, reset = next + n, input = reset + n;
    bias = input + 6 * most, update = bias + 3 * most, sums = update + most;
  }
  /// f(gate, unit, at): the units of all gates of this rank, and their number in shared memory.
  template <class F>
  __device__ void each_input(const F& f) const {
    for (int at = ranks.thread(); at < 3 * units; at += Ranks::threads) f(at / units, at % units, at);
  }
  /// Weights 3 n n and bias 3 n or null, in global memory.
  __device__ void load(const T* from, const T* from_bias) {
    if constexpr (held) {
#pragma unroll
      for (int q = 0; q < at_once; ++q)
#pragma unroll
        for (int g = 0; g < 3; ++g) {
          const int unit = warp + q * warps;
          const T* const line = from + (std::int64_t(g) * n + first + unit) * n;
#pragma unroll
          for (int k = 0; k < Hold::columns; ++k)
            registers[q][g][k] = unit < units && lane + 32 * k < n ? C(line[lane + 32 * k]) : C(0);
        }
    } else {
      for (int row = warp; row < 3 * units; row += warps) {
        const T* const line = from + (std::int64_t(row / units) * n + first + row % units) * n;
        for (int j = lane; j < n; j += 32) weights[row * n + j] = line[j];
      }
    }
    each_input([&](int g, int unit, int at) {
      bias[at] = from_bias ? C(from_bias[std::int64_t(g) * n + first + unit]) : C(0);
    });
  }
  __device__ void begin(const T* from) const {
    for (int i = ranks.thread(); i < n; i += Ranks::threads) state[i] = C(from[i]);
  }
  /// One step with the part of the gates that does not depend on h, u(gate, unit); written(i, h) is called for
  /// the units of this rank by one thread each. Ends with the new state in all ranks.
  template <class U, class F>
  __device__ void step(const U& u, const F& written) {
    for (int begin = warp; begin < units; begin += at_once * warps) {
      C part[at_once][3] = {};
      add_products(begin, state, 0, before ? 2 : 3, part);
#pragma unroll
      for (int q = 0; q < at_once; ++q) {
        const int unit = begin + q * warps;
        if (unit >= units) break;
        const C r = gate(u(0, unit) + warp_sum(part[q][0]) + bias[unit]),
                z = gate(u(1, unit) + warp_sum(part[q][1]) + bias[units + unit]);
        if (before) {
          if (lane == 0) update[unit] = z;
          publish(reset + first + unit, C(T(r * state[first + unit])));
        } else {
          finish(unit, u(2, unit) + r * (warp_sum(part[q][2]) + bias[2 * units + unit]), z, written);
        }
      }
    }
    if (before) {
      ranks.sync();
      for (int begin = warp; begin < units; begin += at_once * warps) {
        C part[at_once][3] = {};
        add_products(begin, reset, 2, 3, part);
#pragma unroll
        for (int q = 0; q < at_once; ++q) {
          const int unit = begin + q * warps;
          if (unit >= units) break;
          finish(unit, u(2, unit) + warp_sum(part[q][2]) + bias[2 * units + unit], update[unit], written);
        }
      }
    }
    wait_copies<0>();  // of gate inputs
    ranks.sync();
    C* const old = state;
    state = next, next = old;
  }

 private:
  /// Adds to part[q][g] this lane's share of the products of weights of gates [from, to) with v, for the units begin,
  /// begin + warps, ...
  __device__ void add_products(int begin, const C* v, int from, int to, C (&part)[at_once][3]) const {
    if constexpr (held) {
#pragma unroll
      for (int k = 0; k < Hold::columns; ++k) {
        const C value = lane + 32 * k < n ? v[lane + 32 * k] : C(0);
#pragma unroll
        for (int q = 0; q < at_once; ++q)
#pragma unroll
          for (int g = 0; g < 3; ++g)
            if (g >= from && g < to) part[q][g] += registers[q][g][k] * value;
      }
    } else {
      for (int j = lane; j < n; j += 32)
        for (int g = from; g < to; ++g) part[0][g] += C(weights[(g * units + begin) * n + j]) * v[j];
    }
  }
  __device__ void publish(C* at, C value) const {
    for (int to = lane; to < ranks.count(); to += 32) ranks.store(at, to, value);
  }
  template <class F>
  __device__ void finish(int unit, C argument, C z, const F& written) const {
    const T h = T((C(1) - z) * std::tanh(argument) + z * state[first + unit]);
    publish(next + first + unit, C(h));
    if (lane == 0) written(first + unit, h);
  }
};

template <class T>
struct ForwardJob {
  using C = Compute<T>;
  const C* u;  ///< of all steps
  const T *h, *weights, *bias;
  T *states, *last;
  std::int64_t n, steps, batch;
  bool before;

  template <class Ranks, class Hold>
  __device__ void run(ResidentGru<T, Ranks, Hold>& gru) const {
    gru.load(weights, bias);
    for (std::int64_t b = gru.ranks.group(); b < batch; b += gru.ranks.groups()) {
      const auto fetch = [&](std::int64_t t) {  // while the step before is computed
        if (t < steps)
          gru.each_input([&](int g, int unit, int at) {
            copy_async(gru.input + t % 2 * 3 * gru.most + at,
                       u + ((b * steps + t) * 3 + g) * n + gru.first + unit);
          });
        commit_copies();
      };
      gru.begin(h + b * n);
      fetch(0);
      wait_copies<0>();
      gru.ranks.sync();
      for (std::int64_t t = 0; t < steps; ++t) {
        fetch(t + 1);
        const C* const input = gru.input + t % 2 * 3 * gru.most;
        T* const to = states + (b * steps + t) * n;
        const int units = gru.units;
        gru.step([&](int g, int unit) { return input[g * units + unit]; }, [&](int i, T v) { to[i] = v; });
      }
      if (last)
        for (int i = gru.ranks.thread(); i < gru.units; i += Ranks::threads)
          last[b * n + gru.first + i] = T(gru.state[gru.first + i]);
      gru.ranks.sync();
    }
  }
};

template <class T>
struct RolloutJob {
  RolloutSizes size;
  const T *u, *slope, *first_loss;
  const T *h, *weights, *bias, *head_hidden, *head_stochastic;
  RolloutOutputs<T> outputs;
  T* last;
  bool before;

  template <class Ranks, class Hold>
  __device__ void run(ResidentGru<T, Ranks, Hold>& gru) const {
    std::int64_t loaded = -1;
    for (std::int64_t row = gru.ranks.group(); row < size.rows; row += gru.ranks.groups()) {
      const std::int64_t member = row / size.batch, gates = 3 * size.n, outer = size.outer(row);
      if (member != loaded)
        gru.load(weights + member * gates * size.n, bias ? bias + member * gates : nullptr), loaded = member;
      gru.begin(h + outer * size.n);
      T* const slopes = gru.input + 3 * gru.most;
      gru.each_input([&](int g, int unit, int at) {
        const std::int64_t i = g * size.n + gru.first + unit;
        gru.input[at] = u[row * gates + i], slopes[at] = slope[member * gates + i];
      });
      gru.ranks.sync();
      T loss = first_loss[row];
      const int units = gru.units;
      for (std::int64_t t = 0; t < size.steps; ++t) {
        gru.step(
            [&](int g, int unit) { return gru.input[g * units + unit] + slopes[g * units + unit] * loss; },
            [](int, T) {});
        loss = decode(gru, outer * size.steps + t);
      }
      if (last)
        for (int i = gru.ranks.thread(); i < gru.units; i += Ranks::threads)
          last[outer * size.n + gru.first + i] = gru.state[gru.first + i];
      gru.ranks.sync();
    }
  }

 private:
  /// The loss of the new state, which every rank has and computes for itself.
  template <class Ranks, class Hold>
  __device__ T decode(const ResidentGru<T, Ranks, Hold>& gru, std::int64_t at) const {
    constexpr int warps = ResidentGru<T, Ranks, Hold>::warps;
    const auto logit = [&](std::int64_t i) { return gru.state[i * size.n / size.categories]; };
    T most = gru.state[0], sums[5] = {};  // a h, h h, e, e logit, e b; the state begins with the first logit
    for (std::int64_t i = gru.lane; i < size.categories; i += 32) most = most < logit(i) ? logit(i) : most;
    most = warp_max(most);
    for (int i = gru.ranks.thread(); i < gru.n; i += Ranks::threads)
      sums[0] += gru.state[i] * head_hidden[i], sums[1] += gru.state[i] * gru.state[i];
    for (std::int64_t i = gru.ranks.thread(); i < size.categories; i += Ranks::threads) {
      const T below = logit(i) - most, e = std::exp(below);
      sums[2] += e, sums[3] += e * below, sums[4] += e * head_stochastic[i];
    }
    for (int q = 0; q < 5; ++q) {
      const T sum = warp_sum(sums[q]);
      if (gru.lane == 0) gru.sums[q * warps + gru.warp] = sum;
    }
    gru.ranks.sync_rank();
    for (int q = 0; q < 5; ++q) {
      sums[q] = gru.sums[q * warps];
      for (int w = 1; w < warps; ++w) sums[q] += gru.sums[q * warps + w];
    }
    const T loss = loss_of(size.categories ? sums[0] + sums[4] / sums[2] : sums[0]);
    if (gru.ranks.rank() == 0 && gru.ranks.thread() == 0)
      outputs.write(at, double(loss), double(sums[1]),
                    size.categories ? double(std::log(sums[2]) - sums[3] / sums[2]) : 0);
    return loss;
  }
};

template <class T, class Ranks, class Job, class Hold = InShared>
__global__ void __launch_bounds__(Ranks::block, 1) run_resident(Job job, std::int64_t n, bool before) {
  ResidentGru<T, Ranks, Hold> gru(n, before);
  job.run(gru);
}

}  // namespace
}  // namespace kolmo::cuda
