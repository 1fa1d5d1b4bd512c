#pragma once
#include <cmath>

#include "kolmo/base/quotient.hpp"
#include "kolmo/base/tensor.hpp"
#include "kolmo/ops/spiking/stdp_update/stdp_update.hpp"

namespace kolmo {

/// Updates the weight of a synapse; traces are as before the step.
template <class T>
struct Synapse {
  const bool *pre, *post;
  T* weight;
  const T *pre_trace, *post_trace;
  std::int64_t count, m, n;
  T pre_decay, post_decay, a_plus, a_minus, low, high;

  explicit Synapse(const StdpUpdateArgs& a)
      : pre(a.pre.as<bool>()),
        post(a.post.as<bool>()),
        weight(a.weight.as<T>()),
        pre_trace(a.pre_trace.as<T>()),
        post_trace(a.post_trace.as<T>()),
        count(a.weight.size()),
        m(a.weight.dim(-2)),
        n(a.weight.dim(-1)),
        pre_decay(T(std::exp(-a.dt / a.tau_plus))),
        post_decay(T(std::exp(-a.dt / a.tau_minus))),
        a_plus(T(a.a_plus)),
        a_minus(T(a.a_minus)),
        low(T(a.low)),
        high(T(a.high)) {}
  std::int64_t items() const { return count; }
  KOLMO_HD T clip(T w) const { return w < low ? low : w > high ? high : w; }
  KOLMO_HD void operator()(std::int64_t at) const {
    const std::int64_t i = quotient(at, n), j = quotient(i, m) * n + at - i * n;
    if (!pre[i] && !post[j]) return;
    T w = weight[at];
    if (pre[i]) w = clip(exact_add(w, -exact_mul(a_minus, exact_mul(post_trace[j], post_decay))));
    if (post[j]) {
      const T trace = exact_mul(pre_trace[i], pre_decay);
      w = clip(exact_add(w, exact_mul(a_plus, pre[i] ? exact_add(trace, 1) : trace)));
    }
    weight[at] = w;
  }
};

/// Updates the trace of a neuron.
template <class T>
struct SpikeTrace {
  const bool* fires;
  T* trace;
  std::int64_t count;
  T decay;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t i) const {
    trace[i] = exact_add(exact_mul(trace[i], decay), T(fires[i] ? 1 : 0));
  }
};

/// Calls step(f) for the functor f of each step.
template <class Step>
void stdp_steps(const StdpUpdateArgs& a, const Step& step) {
  visit<double, float>(a.weight.dtype, [&]<class T> {
    const Synapse<T> synapse(a);
    step(synapse);
    step(SpikeTrace<T>{synapse.pre, a.pre_trace.as<T>(), a.pre.size(), synapse.pre_decay});
    step(SpikeTrace<T>{synapse.post, a.post_trace.as<T>(), a.post.size(), synapse.post_decay});
  });
}

}  // namespace kolmo
