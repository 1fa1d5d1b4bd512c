#pragma once
#include <algorithm>
#include <bit>
#include <cmath>

#include "kolmo/base/complex.hpp"
#include "kolmo/base/philox.hpp"
#include "kolmo/base/qubits.hpp"
#include "kolmo/base/row_terms.hpp"
#include "kolmo/base/status.hpp"
#include "kolmo/ops/quantum/quantum_measurement/quantum_measurement.hpp"

namespace kolmo {

/// Tells which amplitudes belong to which outcome. The bits of an outcome are those of the measured qubits,
/// in ascending order.
struct MeasuredQubits {
  std::int64_t mask, n, outcomes;
  int log_n;

  explicit MeasuredQubits(const QuantumMeasurementArgs& a)
      : mask(a.qubits.empty() ? a.state.dim(-1) - 1 : bit_mask(a.qubits)),
        n(a.state.dim(-1)),
        outcomes(a.qubits.empty() ? n : std::int64_t(1) << a.qubits.count),
        log_n(std::countr_zero(std::uint64_t(n))) {}
  /// The number of the state to which the i-th of all amplitudes belongs.
  KOLMO_HD std::int64_t state(std::int64_t i) const { return i >> log_n; }
  /// The number of the i-th of the n / outcomes amplitudes of an outcome.
  KOLMO_HD std::int64_t amplitude(std::int64_t outcome, std::int64_t i) const {
    if (outcomes == n) return outcome;
    for (std::int64_t rest = mask; rest; rest &= rest - 1, outcome >>= 1) {
      const std::int64_t bit = rest & -rest, low = i & (bit - 1);
      i = (i - low) * 2 + low + (outcome & 1 ? bit : 0);
    }
    return i;
  }
  KOLMO_HD std::int64_t outcome(std::int64_t amplitude) const {
    if (outcomes == n) return amplitude;
    std::int64_t o = 0, place = 1;
    for (std::int64_t rest = mask; rest; rest &= rest - 1, place *= 2)
      if (amplitude & rest & -rest) o += place;
    return o;
  }
};

template <class T>
KOLMO_HD double weight(const Complex<T>& a) {
  return exact_add(exact_mul(double(a.re), double(a.re)), exact_mul(double(a.im), double(a.im)));
}

/// Loads the weights |a|^2 of W neighbouring amplitudes, aligned to their size.
template <class T, int W>
KOLMO_HD void load_weights(const Complex<T>* from, Sums<1> (&weights)[W]) {
  const Pack<Complex<T>, W> a = load_pack<W>(from);
  for (int w = 0; w < W; ++w) weights[w] = {{weight(a.value[w])}};
}

/// Terms |a|^2 of the amplitudes of an outcome. Row b outcomes + o belongs to outcome o of state b.
template <class T>
struct OutcomeRows {
  const Complex<T>* state;
  MeasuredQubits qubits;

  struct Row {
    const Complex<T>* state;
    MeasuredQubits qubits;
    std::int64_t outcome;
    KOLMO_HD Sums<1> operator()(std::int64_t i) const {
      return {{weight(state[qubits.amplitude(outcome, i)])}};
    }
    /// Loads the terms of W neighbouring amplitudes, if packed().
    template <int W>
    KOLMO_HD void load(std::int64_t i, Sums<1> (&terms)[W]) const {
      load_weights(state + qubits.amplitude(outcome, i), terms);
    }
  };
  KOLMO_HD Row operator()(std::int64_t row) const {
    const std::int64_t b = quotient(row, qubits.outcomes);
    return {state + b * qubits.n, qubits, row - b * qubits.outcomes};
  }
};

/// Terms |a|^2 of k neighbouring amplitudes.
template <class T>
struct AmplitudeRows {
  const Complex<T>* state;
  std::int64_t k;

  struct Row {
    const Complex<T>* state;
    KOLMO_HD Sums<1> operator()(std::int64_t i) const { return {{weight(state[i])}}; }
    template <int W>
    KOLMO_HD void load(std::int64_t i, Sums<1> (&terms)[W]) const {
      load_weights(state + i, terms);
    }
  };
  KOLMO_HD Row operator()(std::int64_t row) const { return {state + row * k}; }
};

/// The weights of the outcomes of each state, and above them a tree of sums of 256 neighbours at a time, up
/// to the sum of all. If each amplitude is an outcome, weights are not stored but computed from the
/// amplitudes. The sum of only two outcomes is not stored either.
template <class T>
struct WeightTree {
  static constexpr std::int64_t fan = 256;
  static constexpr int most_levels = 7;
  const Complex<T>* amplitudes = nullptr;
  double* level[most_levels] = {};
  std::int64_t length[most_levels] = {};
  int levels = 0;

  WeightTree(Arena& arena, const Complex<T>* state, std::int64_t states, const MeasuredQubits& q) {
    if (q.outcomes == q.n && q.n > 1) amplitudes = state;
    for (std::int64_t n = q.outcomes;; n = n > fan ? n / fan : 1) {
      length[levels] = n, level[levels] = arena.take<double>(levels == 0 && amplitudes ? 0 : states * n);
      ++levels;
      if (n == 1) return;
    }
  }
  KOLMO_HD bool adds_two() const { return length[0] == 2 && !amplitudes; }
  KOLMO_HD double total(std::int64_t state) const {
    return adds_two() ? exact_add(level[0][2 * state], level[0][2 * state + 1]) : level[levels - 1][state];
  }
  KOLMO_HD double of(int l, std::int64_t i) const {
    return l == 0 && amplitudes ? weight(amplitudes[i]) : level[l][i];
  }
  /// Finds the outcome o for which the sum of the weights before o is at most t, and t is below the sum up to
  /// o. Never finds one of weight 0. read(weights, count) reads weights(i) for all
  /// i < count <= Read::together at once.
  template <class Read>
  KOLMO_HD std::int64_t find(std::int64_t state, double t, Read read) const {
    constexpr int each = 8;  // this many are subtracted before a test for the sign
    std::int64_t at = 0;
    for (int l = levels - 2; l >= 0; --l) {
      const std::int64_t first = at * fan, end = first + fan < length[l] ? first + fan : length[l];
      const auto weight_of = [&](std::int64_t i) { return i < end ? of(l, state * length[l] + i) : 0; };
      std::int64_t group = first;  // the last group of `each` that has weights
      double before = t;
      for (std::int64_t i = first; i < end && t >= 0; i += Read::together) {
        const int count = int(end - i < Read::together ? end - i : Read::together);
        const auto& w = read([&](int j) { return weight_of(i + j); }, count);
        for (int j = 0; j < count && t >= 0; j += each) {
          double rest = t;
          for (int k = 0; k < each; ++k) rest -= j + k < count ? w[j + k] : 0;
          if (rest < t) group = i + j, before = t;
          t = rest;
        }
      }
      // Finds the last weight of the group that t reaches. If rounding led past the end, that is the last
      // weight of all.
      double some[each], left = before;
      for (int k = 0; k < each; ++k) some[k] = weight_of(group + k);
      at = group;
      for (int k = 0; k < each; ++k)
        if (some[k] > 0 && left >= 0) at = group + k, t = left, left -= some[k];
    }
    return at;
  }
};

/// The argument `read` of WeightTree::find for a single thread.
struct ReadByThread {
  static constexpr int together = 16;
  double w[together];
  template <class F>
  KOLMO_HD const double (&operator()(const F& weight, int count))[together] {
    for (int j = 0; j < together; ++j) w[j] = j < count ? weight(j) : 0;
    return w;
  }
};

/// Draws one outcome.
template <class T>
struct DrawOutcome {
  WeightTree<T> tree;
  Philox philox;
  std::int64_t draws, shots, offset, outcomes;
  std::int64_t* outcome;
  double *probability, *scale;
  Status status;

  std::int64_t items() const { return draws; }
  KOLMO_HD void operator()(std::int64_t i) const { draw(i, ReadByThread{}, true); }
  /// Draws by one or several threads, which all do the same. One of them `writes`.
  template <class Read>
  KOLMO_HD void draw(std::int64_t i, Read read, bool writes) const {
    const std::int64_t state = i / shots;
    const double total = tree.total(state);
    const bool sound = total > 0 && total < std::numeric_limits<double>::infinity();
    if (!sound) status.report(0, state);
    const Philox::Words words = philox(std::uint64_t(offset + i), 0);
    const std::int64_t drawn =
        sound ? tree.find(state, exact_mul(uniform53(words.w[0], words.w[1]), total), read) : 0;
    if (!writes) return;
    outcome[i] = drawn;
    if (i != state * shots) return;
    const double weight = tree.of(0, state * outcomes + drawn);
    probability[state] = weight / total;
    scale[state] = std::sqrt(total / weight);
  }
};

template <class T>
struct NormalizedWeights {
  WeightTree<T> tree;
  std::int64_t n, outcomes;
  double* probabilities;
  std::int64_t items() const { return n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    probabilities[i] = tree.of(0, i) / tree.total(i / outcomes);
  }
};

/// Collapses a state, W neighbouring amplitudes at a time, aligned to their size. Begins with the last
/// amplitudes, since caches still hold what was read last for the weights.
template <class T, int W>
struct Collapse {
  const Complex<T>* in;
  Complex<T>* out;
  std::int64_t amplitudes, shots;
  MeasuredQubits qubits;
  const std::int64_t* outcome;
  const double* scale;

  KOLMO_HD std::int64_t items() const { return amplitudes / W; }
  struct Result {
    std::int64_t first;
    Pack<Complex<T>, W> amplitudes;
  };
  KOLMO_HD Result result(std::int64_t item) const {
    const std::int64_t first = (items() - 1 - item) * W, state = qubits.state(first),
                       at = first - state * qubits.n, drawn = outcome[state * shots];
    bool kept[W], any = false;
    for (int w = 0; w < W; ++w) any |= kept[w] = qubits.outcome(at + w) == drawn;
    Pack<Complex<T>, W> a{};
    if (any) {
      a = load_pack<W>(in + first);
      for (int w = 0; w < W; ++w) {
        Complex<T>& v = a.value[w];
        v = kept[w] ? Complex<T>{T(scale[state] * double(v.re)), T(scale[state] * double(v.im))}
                    : Complex<T>{};
      }
    }
    return {first, a};
  }
  KOLMO_HD void operator()(std::int64_t item) const {
    const auto [first, a] = result(item);
    store_pack(out + first, a);
  }
};

/// The workspace of a measurement.
template <class T>
struct MeasurementSpace {
  MeasuredQubits qubits;
  std::int64_t states;
  Sums<1>* partial;
  double* scale;
  WeightTree<T> tree;

  MeasurementSpace(Arena& arena, const QuantumMeasurementArgs& a)
      : qubits(a),
        states(a.state.size() / qubits.n),
        partial(take_partial_sums<1>(arena, states * qubits.outcomes, qubits.n / qubits.outcomes)),
        scale(arena.take<double>(states)),
        tree(arena, a.state.as<Complex<T>>(), states, qubits) {}
};

/// Runs the steps of a measurement. sum(packed, rows, done, count, k, partial) sums rows as sum_rows of
/// base/sums.hpp does; if `packed`, amplitudes may be read 16 bytes at once. each(f) calls f(i) for all items
/// of f, draw(f) for those of a DrawOutcome.
template <class T, class Sum, class Draw, class Each>
void measure(const QuantumMeasurementArgs& a, Arena arena, Status status, const Sum& sum, const Draw& draw,
             const Each& each) {
  using C = Complex<T>;
  const MeasurementSpace<T> space(arena, a);
  const MeasuredQubits& q = space.qubits;
  const WeightTree<T>& tree = space.tree;

  constexpr int width = 16 / int(sizeof(C));
  const bool aligned =
      (reinterpret_cast<std::uintptr_t>(a.state.data) | reinterpret_cast<std::uintptr_t>(a.collapsed.data)) %
              16 ==
          0 &&
      q.n % width == 0;
  if (!tree.amplitudes)
    sum(aligned && q.mask % width == 0, OutcomeRows<T>{a.state.as<C>(), q}, RoundedSum<double>{tree.level[0]},
        space.states * q.outcomes, q.n / q.outcomes, space.partial);
  for (int l = 1; l < tree.levels && !tree.adds_two(); ++l) {
    const std::int64_t k = tree.length[l - 1] / tree.length[l], rows = space.states * tree.length[l];
    const RoundedSum<double> done{tree.level[l]};
    if (l == 1 && tree.amplitudes)
      sum(aligned && k % width == 0, AmplitudeRows<T>{tree.amplitudes, k}, done, rows, k, nullptr);
    else
      sum(false, ValueRows<double>{tree.level[l - 1], k}, done, rows, k, nullptr);
  }
  draw(DrawOutcome<T>{tree, Philox(a.seed), a.outcome.size(), a.shots, a.offset, q.outcomes,
                      a.outcome.as<std::int64_t>(), a.probability.as<double>(), space.scale, status});
  if (a.probabilities.given())
    each(NormalizedWeights<T>{tree, a.probabilities.size(), q.outcomes, a.probabilities.as<double>()});
  const auto collapse = [&]<int W> {
    each(Collapse<T, W>{a.state.as<C>(), a.collapsed.as<C>(), a.state.size(), a.shots, q,
                        a.outcome.as<std::int64_t>(), space.scale});
  };
  aligned ? collapse.template operator()<width>() : collapse.template operator()<1>();
}

inline void lay_measurement(Arena& arena, const QuantumMeasurementArgs& a) {
  visit<double, float>(real_of(a.state.dtype), [&]<class T> { MeasurementSpace<T>(arena, a); });
}

}  // namespace kolmo
