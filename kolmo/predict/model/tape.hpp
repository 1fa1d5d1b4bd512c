#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "kolmo/predict/model/inputs.hpp"
#include "kolmo/predict/model/train.hpp"
#include "kolmo/runtime/cpu/vectors.hpp"

namespace kolmo::predict {

/// The place at which a window begins in its run, after it was moved.
using Place = Windows::Window;

/// Reads windows in 16 lanes, predicts, and back-propagates. The loss of a window is the mean over the blocks that are read of the
/// Huber loss of the next block's prediction, and `closed` times the sum of that of the blocks in closed loop.
template <class T>
class Tape {
 public:
  Tape(const Windows& w, const MemberSizes& s)
      : windows_(w),
        sizes_(s),
        x_(at(window, MemberSizes::inputs)),
        h_(at(window + 1, s.hidden)),
        gates_(at(window, 4 * s.hidden)),
        planned_(at(window, MemberSizes::planned)),
        head_(at(window, MemberSizes::head)),
        change_(at(window, 1)),
        level_(at(window, 1)),
        target_(at(window, 1)),
        next_(at(window, 1)),
        weight_(at(window, 1)),
        of_h_(at(1, s.hidden)),
        of_x_(at(1, MemberSizes::inputs)) {}

  /// Adds what at most 16 windows, which are read up to block `start`, contribute to the gradient of the mean loss of `share`
  /// windows. Returns their contribution to that loss.
  double add_gradient(const Member<T>& member, std::span<const Place> chosen, int start, int share,
                      double closed, T* gradient) {
    load(chosen, start);
    const int end = std::min(window, start + ahead);
    loss_ = 0;
    by_instruction_set([&] {
      forward(member, start, end);
      backward(member, start, end, share, T(closed), gradient);
      weights(end, gradient);
    });
    return loss_;
  }

 private:
  static constexpr int lanes = training_lanes;
  static constexpr int first_head = MemberSizes::first_head;

  static std::size_t at(int steps, int units) { return std::size_t(steps) * std::size_t(units) * lanes; }
  T* of(std::vector<T>& v, int step, int units) const { return v.data() + at(step, units); }

  void load(std::span<const Place> places, int start) {
    for (int l = 0; l < lanes; ++l) {
      const Place& place = places[l < int(places.size()) ? std::size_t(l) : 0];
      const Windows::Run& run = windows_.runs[std::size_t(place.run)];
      for (int t = 0; t < window; ++t) {
        const bool inside = place.first + t < run.blocks();
        const auto from = std::size_t(inside ? place.first + t : 0);
        const auto put = [&](std::vector<T>& to, int units, const double* values) {
          for (int i = 0; i < units; ++i) of(to, t, units)[i * lanes + l] = inside ? T(values[i]) : T(0);
        };
        put(x_, MemberSizes::inputs, run.block.data() + from * MemberSizes::inputs);
        put(planned_, MemberSizes::planned, run.planned.data() + from * MemberSizes::planned);
        const LossTrace<double>& trace = run.trace[from];
        const double next = trace.anchor + LossTrace<double>::damping * trace.trend;
        put(target_, 1, &trace.level), put(next_, 1, &next);
        of(weight_, t, 1)[l] = inside && l < int(places.size()) ? T(1) : T(0);
        if (t == start - 1)
          trace_[l] = {T(trace.level), T(trace.fast_mean), T(trace.slow_mean), T(trace.anchor),
                       T(trace.trend)};
      }
      trace_[l].leave();
    }
  }

  void forward(const Member<T>& m, int start, int end) {
    std::fill_n(h_.data(), at(1, sizes_.hidden), T(0));
    for (int t = 0; t < end; ++t) {
      T *const h = of(h_, t, sizes_.hidden), *const x = of(x_, t, MemberSizes::inputs),
               *const d = of(change_, t, 1);
      if (t >= first_head)
        m.template change<lanes>(h, of(planned_, t, MemberSizes::planned), of(head_, t, MemberSizes::head),
                                 d);
      if (t >= start)
        for (int l = 0; l < lanes; ++l) {
          const T change = trace_[l].imagine(d[l]);
          trace_[l].write(change, x + l, lanes);
          x[7 * lanes + l] = of(x_, start - 1, MemberSizes::inputs)[7 * lanes + l];
          of(level_, t, 1)[l] = trace_[l].level;
        }
      if (t + 1 < end)
        m.template cell<lanes>(x, h, of(gates_, t, 4 * sizes_.hidden), of(h_, t + 1, sizes_.hidden));
    }
  }

  /// The derivative of the Huber loss of an error, which is added to the loss.
  T slope(T error, T weight) {
    loss_ += double(huber_loss(error, weight));
    return huber_slope(error, weight);
  }

  void backward(const Member<T>& m, int start, int end, int share, T closed, T* gradient) {
    std::fill(of_h_.begin(), of_h_.end(), T(0));
    T of_level[lanes] = {}, of_fast[lanes] = {}, of_slow[lanes] = {}, of_d[lanes];
    for (int t = end - 1; t >= 0; --t) {
      const bool imagined = t >= start, inner = t + 1 < end;
      if (inner)
        m.template cell_gradient<lanes>(of(h_, t, sizes_.hidden), of(gates_, t, 4 * sizes_.hidden),
                                        of_h_.data(), imagined ? of_x_.data() : nullptr);
      if (t < first_head) continue;
      const T *const y = of(target_, t, 1), *const weight = of(weight_, t, 1), *const d = of(change_, t, 1);
      for (int l = 0; l < lanes; ++l) {
        of_d[l] = 0;
        if (imagined) {
          const auto x = [&](int i) { return inner ? of_x_[std::size_t(i) * lanes + std::size_t(l)] : T(0); };
          const T fast = of_fast[l] + 10 * x(2), slow = of_slow[l] + 5 * x(3);
          of_level[l] += x(0) - 10 * x(2) - 5 * x(3) + LossTrace<T>::fast * fast + LossTrace<T>::slow * slow +
                         slope(level_[at(t, 1) + std::size_t(l)] - y[l], closed * weight[l] / T(share));
          of_fast[l] = (1 - LossTrace<T>::fast) * fast, of_slow[l] = (1 - LossTrace<T>::slow) * slow;
          of_d[l] = of_level[l] + 10 * x(1);
        }
        if (t <= start)
          of_d[l] += slope(next_[at(t - 1, 1) + std::size_t(l)] + d[l] - y[l], weight[l] / T(share * start));
      }
      m.template head_gradient<lanes>(of_d, of(head_, t, MemberSizes::head), of_h_.data(), gradient);
    }
  }

  void weights(int end, T* gradient) {
    const int n = sizes_.hidden, steps = end - 1, heads = end - first_head;
    const auto outer = [&](int inputs, int outputs, int count, const T* x, int x_units, const T* g,
                           int g_units, std::ptrdiff_t to) {
      add_outer(inputs, outputs, count, x, x_units, g, g_units, gradient + to);
    };
    constexpr int in = MemberSizes::inputs, plan = MemberSizes::planned, head = MemberSizes::head;
    outer(in, 3 * n, steps, x_.data(), in, gates_.data(), 4 * n, sizes_.input());
    outer(n, 3 * n, steps, h_.data(), n, gates_.data() + n * lanes, 4 * n, sizes_.recurrent());
    outer(n, head, heads, of(h_, first_head, n), n, of(head_, first_head, head), head, sizes_.of_state());
    outer(plan, head, heads, of(planned_, first_head, plan), plan, of(head_, first_head, head), head,
          sizes_.of_plan());
    const auto sums = [&](int units, int from, int to, std::vector<T>& g, std::ptrdiff_t bias) {
      for (int i = 0; i < units; ++i) {
        typename LaneVector<T>::Type sum = {}, one;
        for (int t = from; t < to; ++t) load_lanes(one, of(g, t, units), i), sum += one;
        gradient[bias + i] += sum_of_lanes<T>(sum);
      }
    };
    sums(4 * n, 0, steps, gates_, sizes_.bias());
    sums(head, first_head, end, head_, sizes_.head_bias());
  }

  const Windows& windows_;
  MemberSizes sizes_;
  std::vector<T> x_, h_, gates_, planned_, head_, change_, level_, target_, next_, weight_, of_h_, of_x_;
  LossTrace<T> trace_[lanes];
  double loss_ = 0;
};

}  // namespace kolmo::predict
