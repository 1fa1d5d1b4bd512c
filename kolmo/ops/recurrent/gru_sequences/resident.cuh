#pragma once
// A GRU whose recurrent weights stay in the shared memory or the registers of ranks (ranks.cuh) for all
// steps. Each rank computes a share of the units, and has all of the state.
#include "kolmo/base/quotient.hpp"
#include "kolmo/device/async.cuh"
#include "kolmo/device/warp.cuh"
#include "kolmo/ops/recurrent/gru_sequences/ranks.cuh"
#include "kolmo/ops/recurrent/gru_sequences/rollout_steps.hpp"

namespace kolmo::cuda {
namespace {

/// Where weights are held. In registers: a warp has `units` units at once, and a lane the weights of
/// `columns` states. Held<0, 0>: in shared memory.
template <int Units, int Columns>
struct Held {
  static constexpr int units = Units, columns = Columns;
};
using InShared = Held<0, 0>;

constexpr int input_sets = 4;  // gate inputs of 4 steps, so that copies are in flight for three

/// A rank's share of the units, and the size of its shared memory.
struct Share {
  /// n: units of all ranks. most: the largest number that a rank has. warps: warps of a rank.
  int n, most, warps;
  bool held;  ///< weights are in registers
  /// Bytes of three barriers: of the state at even steps, of the state at odd steps, and of r h.
  static constexpr std::size_t barriers = 32;

  KOLMO_HD Share(std::int64_t units, int ranks, int threads, bool in_registers)
      : n(int(units)), most((int(units) + ranks - 1) / ranks), warps(threads / 32), held(in_registers) {}
  template <class T>
  KOLMO_HD std::size_t weights() const {
    return held ? 0 : (std::size_t(3 * most) * std::size_t(n) * sizeof(T) + 15) / 16 * 16;
  }
  /// Bytes of barriers, weights, old and new state, r h, sets of gate inputs, bias, z, and sums of warps.
  template <class T>
  KOLMO_HD std::size_t bytes() const {
    const std::size_t numbers = std::size_t(3 * n + (3 * input_sets + 4) * most + 6 * warps);
    return barriers + weights<T>() + (numbers * sizeof(Compute<T>) + 15) / 16 * 16;
  }
};

template <class T, class Ranks, class Hold = InShared>
struct ResidentGru {
  using C = Compute<T>;
  static constexpr bool held = Hold::units > 0;
  static constexpr int at_once = held ? Hold::units : 1;  ///< units that a warp computes at once
  Ranks ranks;
  int n, first, units, most, warp, lane;
  /// before: the reset comes before the product. counted: ranks count the bytes that they receive.
  bool before, counted;
  int odd = 0;
  unsigned steps = 0;   ///< number of steps done
  unsigned phases = 0;  ///< parity of each barrier's phase, one bit each
  std::uint64_t* barriers;
  T* weights;
  C *state, *next, *reset, *input, *bias, *update, *sums;
  C registers[at_once][3][held ? Hold::columns : 1];
  static constexpr int warps = Ranks::threads / 32;

  __device__ ResidentGru(std::int64_t all, bool reset_before, const Ranks& of)
      : ranks(of), before(reset_before) {
    const Share share(all, ranks.count(), Ranks::threads, held);
    n = share.n, most = share.most;
    first = min(n, ranks.rank() * most), units = min(most, n - first);
    warp = ranks.thread() / 32, lane = ranks.thread() % 32;
    unsigned char* const memory = ranks.memory(share.template bytes<T>());
    barriers = reinterpret_cast<std::uint64_t*>(memory);
    weights = reinterpret_cast<T*>(memory + Share::barriers);
    state = reinterpret_cast<C*>(memory + Share::barriers + share.template weights<T>());
    next = state + n, reset = next + n, input = reset + n;
    bias = input + 3 * input_sets * most, update = bias + 3 * most, sums = update + most;
    // A rank without units would fall behind, as it would wait for nothing.
    counted = Ranks::counts && (ranks.count() - 1) * most < n;
    if constexpr (Ranks::counts)
      if (counted && ranks.thread() == 0)
        for (int b = 0; b < 3; ++b) ranks.make(barriers + b), ranks.expect(barriers + b, n * int(sizeof(C)));
  }
  /// Calls f(gate, unit, at) for the units of all gates of this rank; `at` is their number in shared memory.
  template <class F>
  __device__ void each_input(const F& f) const {
    for (int at = ranks.thread(); at < 3 * units; at += Ranks::threads) f(at / units, at % units, at);
  }
  /// Loads 3 n n weights and 3 n numbers of the bias, which may be null, from global memory.
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
  /// Computes one step. u(gate, unit) is the part of the gates that does not depend on h. At the end all
  /// ranks have the new state. What the caller then writes to global memory does not delay the next step.
  template <class U>
  __device__ void step(const U& u) {
    for (int begin = warp; begin < units; begin += at_once * warps) {
      C part[3];
      products(begin, state, 0, before ? 2 : 3, part);
      const int unit = begin + lane % at_once * warps;
      if (unit >= units) continue;
      const C r = gate(u(0, unit) + part[0] + bias[unit]),
              z = gate(u(1, unit) + part[1] + bias[units + unit]);
      if (before) {
        if (lane < at_once) update[unit] = z;
        publish(2, reset + first + unit, C(T(r * state[first + unit])));
      } else {
        finish(unit, u(2, unit) + r * (part[2] + bias[2 * units + unit]), z);
      }
    }
    if (before) {
      meet(2);
      for (int begin = warp; begin < units; begin += at_once * warps) {
        C part[3];
        products(begin, reset, 2, 3, part);
        const int unit = begin + lane % at_once * warps;
        if (unit < units) finish(unit, u(2, unit) + part[2] + bias[2 * units + unit], update[unit]);
      }
    }
    wait_copies<input_sets - 2>();  // for the gate inputs of the next step
    meet(odd);
    odd ^= 1, ++steps;
    C* const old = state;
    state = next, next = old;
  }

 private:
  /// Sets part[g], for the gates g in [from, to), to the product of the weights with v, for the unit
  /// begin + (lane % at_once) warps.
  __device__ void products(int begin, const C* v, int from, int to, C (&part)[3]) const {
    C all[at_once][3] = {};
    if constexpr (held) {
#pragma unroll
      for (int k = 0; k < Hold::columns; ++k) {
        const C value = lane + 32 * k < n ? v[lane + 32 * k] : C(0);
#pragma unroll
        for (int q = 0; q < at_once; ++q)
#pragma unroll
          for (int g = 0; g < 3; ++g)
            if (g >= from && g < to) all[q][g] += registers[q][g][k] * value;
      }
    } else {
      for (int j = lane; j < n; j += 32)
        for (int g = from; g < to; ++g) all[0][g] += C(weights[(g * units + begin) * n + j]) * v[j];
    }
#pragma unroll
    for (int q = 0; q < at_once; ++q) {
      warp_sums(all[q]);
#pragma unroll
      for (int g = 0; g < 3; ++g)
        if (q == 0 || lane % at_once == q) part[g] = all[q][g];
    }
  }
  /// Sends a unit's value to all ranks. All lanes of the unit call it; each serves some of the ranks.
  __device__ void publish(int which, C* at, C value) const {
    if constexpr (Ranks::by_words) {
      if (lane < at_once) ranks.send(which * n + int(at - exchanged(which)), value, steps + 1);
    } else {
      for (int to = lane / at_once; to < ranks.count(); to += 32 / at_once) {
        if constexpr (Ranks::counts)
          if (counted) {
            ranks.store(at, to, value, barriers + which);
            continue;
          }
        ranks.store(at, to, value);
      }
    }
  }
  /// Waits until every rank has all that was published to barrier `which`. No state is overwritten while a
  /// warp reads it: a rank sends the state after the next one only when it has received the next one from all
  /// warps, and these sent it after they had read.
  __device__ void meet(int which) {
    if constexpr (Ranks::by_words) {
      ranks.gather(exchanged(which), n, which * n, steps + 1);
      return ranks.sync_rank();
    }
    if constexpr (Ranks::counts)
      if (counted) {
        ranks.sync_rank();
        ranks.wait(barriers + which, int(phases >> which & 1));
        phases ^= 1u << which;
        if (ranks.thread() == 0) ranks.expect(barriers + which, n * int(sizeof(C)));
        return;
      }
    ranks.sync();
  }
  __device__ C* exchanged(int which) const { return which == 2 ? reset : next; }
  __device__ void finish(int unit, C argument, C z) const {
    publish(odd, next + first + unit, C(T((C(1) - z) * std::tanh(argument) + z * state[first + unit])));
  }
};

template <class T>
struct ForwardJob {
  using C = Compute<T>;
  const C* u;  ///< gate inputs of all steps
  const T *h, *weights, *bias;
  T *states, *last;
  std::int64_t n, steps, batch;
  bool before;

  template <class Ranks, class Hold>
  __device__ void run(ResidentGru<T, Ranks, Hold>& gru) const {
    gru.load(weights, bias);
    for (std::int64_t b = gru.ranks.group(); b < batch; b += gru.ranks.groups()) {
      const auto fetch = [&](std::int64_t t) {
        if (t < steps)
          gru.each_input([&](int g, int unit, int at) {
            copy_async(gru.input + t % input_sets * 3 * gru.most + at,
                       u + ((b * steps + t) * 3 + g) * n + gru.first + unit);
          });
        commit_copies();
      };
      gru.begin(h + b * n);
      for (int t = 0; t < input_sets - 1; ++t) fetch(t);
      wait_copies<input_sets - 2>();
      gru.ranks.sync();
      for (std::int64_t t = 0; t < steps; ++t) {
        fetch(t + input_sets - 1);
        const C* const input = gru.input + t % input_sets * 3 * gru.most;
        const int units = gru.units;
        gru.step([&](int g, int unit) { return input[g * units + unit]; });
        for (int i = gru.ranks.thread(); i < units; i += Ranks::threads)
          states[(b * steps + t) * n + gru.first + i] = T(gru.state[gru.first + i]);
      }
      wait_copies<0>();
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
      const int units = gru.units, thread = gru.ranks.thread();
      const T *const a = head_hidden + member * size.n, *const b = head_stochastic + member * size.categories;
      const Head head{a, b, thread < gru.n ? a[thread] : T(0), thread < size.categories ? b[thread] : T(0),
                      thread < size.categories ? logit(thread) : 0};
      for (std::int64_t t = 0; t < size.steps; ++t) {
        gru.step(
            [&](int g, int unit) { return gru.input[g * units + unit] + slopes[g * units + unit] * loss; });
        loss = decode(gru, head, outer * size.steps + t);
      }
      if (last)
        for (int i = gru.ranks.thread(); i < gru.units; i += Ranks::threads)
          last[outer * size.n + gru.first + i] = gru.state[gru.first + i];
      gru.ranks.sync();
    }
  }

 private:
  /// The head of a member, and the numbers of it that a thread uses first.
  struct Head {
    const T *all_hidden, *all_stochastic;
    T hidden, stochastic;
    int logit;  ///< its index in the state
  };
  __device__ int logit(std::int64_t i) const { return int(quotient(i * size.n, size.categories)); }

  /// Computes the loss of the new state. Every rank has all of the state and computes it for itself: first
  /// the sums of each warp, with its largest logit, then the sums of those.
  template <class Ranks, class Hold>
  __device__ T decode(const ResidentGru<T, Ranks, Hold>& gru, const Head& head, std::int64_t at) const {
    constexpr int warps = ResidentGru<T, Ranks, Hold>::warps;
    const int thread = gru.ranks.thread();
    // The sums of a h, h h, e, e logit and e b. The first logit is the first element of the state.
    T sums[5] = {};
    T most = gru.state[0];
    for (std::int64_t i = thread; i < size.categories; i += Ranks::threads) {
      const T own = gru.state[i == thread ? head.logit : logit(i)];
      most = most < own ? own : most;
    }
    most = warp_max(most);
    for (int i = thread; i < gru.n; i += Ranks::threads) {
      const T h = gru.state[i];
      sums[0] += h * (i == thread ? head.hidden : head.all_hidden[i]), sums[1] += h * h;
    }
    for (std::int64_t i = thread; i < size.categories; i += Ranks::threads) {
      const T below = gru.state[i == thread ? head.logit : logit(i)] - most, e = std::exp(below);
      sums[2] += e, sums[3] += e * below,
          sums[4] += e * (i == thread ? head.stochastic : head.all_stochastic[i]);
    }
    warp_sums(sums);
    if (gru.lane < 5)
      gru.sums[gru.lane * warps + gru.warp] = gru.lane == 0   ? sums[0]
                                              : gru.lane == 1 ? sums[1]
                                              : gru.lane == 2 ? sums[2]
                                              : gru.lane == 3 ? sums[3]
                                                              : sums[4];
    if (gru.lane == 5) gru.sums[5 * warps + gru.warp] = most;
    gru.ranks.sync_rank();
    const int w = gru.lane < warps ? gru.lane : 0;
    const T own = gru.sums[5 * warps + w];
    most = warp_max(own);
    const T scale = gru.lane < warps ? std::exp(own - most) : T(0);
    for (int q = 0; q < 5; ++q) sums[q] = gru.lane < warps ? gru.sums[q * warps + w] : T(0);
    sums[3] = scale * (sums[3] + (own - most) * sums[2]), sums[2] *= scale, sums[4] *= scale;
    warp_sums(sums);
    const T loss = loss_of(size.categories ? sums[0] + sums[4] / sums[2] : sums[0]);
    if (gru.ranks.rank() == 0 && thread == 0)
      outputs.write(at, double(loss), double(sums[1]),
                    size.categories ? double(std::log(sums[2]) - sums[3] / sums[2]) : 0);
    return loss;
  }
};

template <class T, class Ranks, class Job, class Hold = InShared>
__global__ void __launch_bounds__(Ranks::block, 1)
    run_resident(Job job, std::int64_t n, bool before, Ranks ranks) {
  ResidentGru<T, Ranks, Hold> gru(n, before, ranks);
  job.run(gru);
}

}  // namespace
}  // namespace kolmo::cuda
