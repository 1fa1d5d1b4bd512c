#pragma once
#include <algorithm>
#include <cmath>

#include "kolmo/base/complex.hpp"
#include "kolmo/base/pack.hpp"
#include "kolmo/base/qubits.hpp"
#include "kolmo/ops/quantum/gates/gates.hpp"
#include "kolmo/skeleton/each_item.hpp"

namespace kolmo {

// Each state of a batch has a power of two of amplitudes. So the gates treat the whole batch as one state.

/// Applies H to K qubits, for the 2^K amplitudes that differ in these qubits alone.
template <class T, int K>
struct HadamardGroup {
  const Complex<T>* in;
  Complex<T>* out;
  std::int64_t amplitudes;
  int bit[K];  ///< ascending
  T scale;     ///< 2^(-K/2)

  std::int64_t items() const { return amplitudes >> K; }
  KOLMO_HD void operator()(std::int64_t i) const {
    constexpr int size = 1 << K;
    for (int k = 0; k < K; ++k) i = insert_zero(i, bit[k]);
    Complex<T> a[size];
    for (int g = 0; g < size; ++g) a[g] = in[i + place(g)];
    for (int k = 0; k < K; ++k)
      for (int g = 0; g < size; ++g)
        if (!(g >> k & 1)) {
          const Complex<T> low = a[g], high = a[g + (1 << k)];
          a[g] = low + high, a[g + (1 << k)] = low - high;
        }
    for (int g = 0; g < size; ++g) out[i + place(g)] = scale * a[g];
  }

 private:
  KOLMO_HD std::int64_t place(int g) const {
    std::int64_t at = 0;
    for (int k = 0; k < K; ++k) at += std::int64_t(g >> k & 1) << bit[k];
    return at;
  }
};

/// Calls run(group) for groups of up to three qubits. The first group reads the state, the others the result
/// of the one before.
template <class T, class Run>
void hadamard_groups(const GateArgs& a, const Run& run) {
  using C = Complex<T>;
  Integers sorted = a.qubits;
  std::sort(sorted.items, sorted.items + sorted.count);
  const C* in = a.state.as<C>();
  const auto group = [&]<int K>(int first) {
    HadamardGroup<T, K> g{in, a.result.as<C>(), a.state.size(), {}, T(std::pow(2.0, -0.5 * K))};
    for (int k = 0; k < K; ++k) g.bit[k] = int(sorted[first + k]);
    run(g);
    in = a.result.as<C>();
  };
  int first = 0;
  for (; sorted.count - first >= 3; first += 3) group.template operator()<3>(first);
  if (sorted.count - first == 2) group.template operator()<2>(first);
  if (sorted.count - first == 1) group.template operator()<1>(first);
}

/// Calls f.operator()<T>() with the type of the real and imaginary parts of the state.
template <class A, class F>
void visit_parts(const A& a, F&& f) {
  visit<double, float>(real_of(a.state.dtype), std::forward<F>(f));
}

/// X on the qubits of a mask swaps amplitudes i and i ^ mask. An item is such a pair; its first amplitude has
/// a 0 in the highest qubit of the mask.
template <class C>
struct PauliXPair {
  const C* in;
  C* out;
  std::int64_t pairs, mask;
  int bit;

  explicit PauliXPair(const GateArgs& a)
      : in(a.state.as<C>()),
        out(a.result.as<C>()),
        pairs(a.state.size() / 2),
        mask(bit_mask(a.qubits)),
        bit(int(*std::max_element(a.qubits.begin(), a.qubits.end()))) {}
  std::int64_t items() const { return pairs; }
  KOLMO_HD void operator()(std::int64_t item) const {
    const std::int64_t i = insert_zero(item, bit);
    const C first = in[i], second = in[i ^ mask];
    out[i] = second, out[i ^ mask] = first;
  }
};

/// Multiplies every amplitude by a power of the phase; the exponent counts its qubits that are 1. An item is
/// 16 bytes, or one amplitude if states do not start at multiples of 16 bytes.
template <class C>
struct PhaseFactor {
  static constexpr int width = pack_width<C>;
  const C* in;
  C* out;
  std::int64_t amplitudes;
  bool packed;  // states have at least one qubit, so the number of amplitudes is even
  int bit[Integers::capacity], count;
  C power[Integers::capacity + 1];

  explicit PhaseFactor(const PhaseGateArgs& a)
      : in(a.state.as<C>()),
        out(a.result.as<C>()),
        amplitudes(a.state.size()),
        packed(packed_rows<C>(1, 0, in, out)),
        bit{},
        count(a.qubits.count) {
    for (int k = 0; k < count; ++k) bit[k] = int(a.qubits[k]);
    using T = decltype(C::re);
    for (int k = 0; k <= count; ++k) power[k] = {T(std::cos(k * a.angle)), T(std::sin(k * a.angle))};
  }
  std::int64_t items() const { return packed ? amplitudes / width : amplitudes; }
  KOLMO_HD void operator()(std::int64_t i) const {
    if (packed)
      turn<width>(i * width);
    else
      turn<1>(i);
  }

 private:
  template <int W>
  KOLMO_HD void turn(std::int64_t i) const {
    int ones[W] = {}, any = 0;
    for (int k = 0; k < count; ++k)
      for (int e = 0; e < W; ++e) ones[e] += int((i + e) >> bit[k] & 1), any |= ones[e];
    if (!any && out == in) return;
    Pack<C, W> a = load_pack<W>(in + i);
    for (int e = 0; e < W; ++e)
      if (const C v = a.value[e], p = power[ones[e]]; ones[e])
        a.value[e] = {exact_add(exact_mul(v.re, p.re), -exact_mul(v.im, p.im)),
                      exact_add(exact_mul(v.re, p.im), exact_mul(v.im, p.re))};
    store_pack(out + i, a);
  }
};

/// Swaps amplitudes that differ in the target alone, where the control qubits are 1.
template <class C>
struct CnotPair {
  const C* in;
  C* out;
  std::int64_t pairs, control;
  int target;

  explicit CnotPair(const CnotArgs& a)
      : in(a.state.as<C>()),
        out(a.result.as<C>()),
        pairs(a.state.size() / 2),
        control(bit_mask(a.control)),
        target(int(a.target)) {}
  std::int64_t items() const { return pairs; }
  KOLMO_HD void operator()(std::int64_t item) const {
    const std::int64_t i = insert_zero(item, target), j = i | std::int64_t(1) << target;
    const bool swaps = (i & control) == control;
    if (!swaps && out == in) return;
    const C first = in[i], second = in[j];
    out[i] = swaps ? second : first, out[j] = swaps ? first : second;
  }
};

template <class Args, template <class> class Gate>
using GateItems = Items<Args, Gate, &Args::state, Complex<double>, Complex<float>>;

}  // namespace kolmo
