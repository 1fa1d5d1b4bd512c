#pragma once
#include <cmath>
#include <cstdint>

#include "kolmo/base/pack.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/base/tensor.hpp"
#include "kolmo/ops/spiking/stdp_update/stdp_update.hpp"

namespace kolmo {

/// Updates the weights of W neighbouring synapses of a row. The traces are those before the step.
template <class T, int W>
struct Synapses {
  const bool *pre, *post;
  T* weight;
  const T *pre_trace, *post_trace;
  std::int64_t count, m, n;
  T pre_decay, post_decay, a_plus, a_minus, low, high;

  explicit Synapses(const StdpUpdateArgs& a)
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
  /// Whether each row can be divided into packs of W synapses that are aligned to their size.
  bool fits() const {
    const auto aligned = [](const auto* p) {
      return reinterpret_cast<std::uintptr_t>(p) % (W * sizeof(*p)) == 0;
    };
    return n % W == 0 && aligned(post) && aligned(weight) && aligned(post_trace);
  }
  std::int64_t items() const { return count / W; }
  KOLMO_HD T clip(T w) const { return w < low ? low : w > high ? high : w; }
  KOLMO_HD void operator()(std::int64_t item) const {
    const std::int64_t at = item * W, i = quotient(at, n), j = at - i * n + (i < m ? 0 : quotient(i, m) * n);
    const Pack<bool, W> fires = load_pack<W>(post + j);
    bool any = pre[i];
    for (int k = 0; k < W; ++k) any |= fires.value[k];
    if (!any) return;
    const T trace = exact_mul(pre_trace[i], pre_decay),
            rise = exact_mul(a_plus, pre[i] ? exact_add(trace, 1) : trace);
    const Pack<T, W> falls = load_pack<W>(post_trace + j);
    Pack<T, W> w = load_pack<W>(weight + at);
    for (int k = 0; k < W; ++k) {
      T& v = w.value[k];
      if (pre[i]) v = clip(exact_add(v, -exact_mul(a_minus, exact_mul(falls.value[k], post_decay))));
      if (fires.value[k]) v = clip(exact_add(v, rise));
    }
    store_pack(weight + at, w);
  }
};

/// Updates the traces of all neurons before and after the synapses.
template <class T>
struct SpikeTraces {
  struct Side {
    const bool* fires;
    T* trace;
    std::int64_t count;
    T decay;
    KOLMO_HD void update(std::int64_t i) const {
      trace[i] = exact_add(exact_mul(trace[i], decay), T(fires[i] ? 1 : 0));
    }
  };
  Side pre, post;

  std::int64_t items() const { return pre.count + post.count; }
  KOLMO_HD void operator()(std::int64_t i) const {
    i < pre.count ? pre.update(i) : post.update(i - pre.count);
  }
};

/// Calls step(f) for the functor f of each step.
template <class Step>
void stdp_steps(const StdpUpdateArgs& a, const Step& step) {
  visit<double, float>(a.weight.dtype, [&]<class T> {
    const Synapses<T, 1> synapse(a);
    if (const Synapses<T, 2 * pack_width<T>> pairs(a); pairs.fits())  // two packs keep more reads in flight
      step(pairs);
    else if (const Synapses<T, pack_width<T>> packs(a); packs.fits())
      step(packs);
    else
      step(synapse);
    step(SpikeTraces<T>{{synapse.pre, a.pre_trace.as<T>(), a.pre.size(), synapse.pre_decay},
                        {synapse.post, a.post_trace.as<T>(), a.post.size(), synapse.post_decay}});
  });
}

}  // namespace kolmo
