#pragma once
#include <cmath>

#include "kolmo/ops/training/world_model_gradient/member_sizes.hpp"
#include "kolmo/ops/training/world_model_gradient/world_model_gradient.hpp"
#include "kolmo/skeleton/each_team.hpp"

namespace kolmo {

/// The sizes of a call. A row of the workspace belongs to a block of a window: its left part is what weights are multiplied by, its right
/// part the gradients of the products, so that the gradient of a weight is the sum over all rows of a left times a right number.
struct GradientSizes {
  // Left: x, planned, the gradient of d / 10, a one; d and y in closed loop or the loss before, which no weight uses; h.
  static constexpr int of_planned = MemberSizes::inputs, of_d = of_planned + MemberSizes::planned,
                       one = of_d + 1, change = one + 1, level = change + 1, state = level + 1;
  static constexpr int slices = 8;       ///< into which the windows of a sum are parted
  static constexpr int input_parts = 8;  ///< into which the sum for an input's gradient is parted
  MemberSizes sizes;
  std::int64_t members, windows, blocks, most, ahead;

  explicit GradientSizes(const WorldModelGradientArgs& a)
      : sizes{int(a.hidden)},
        members(a.first.dim(0)),
        windows(a.first.dim(1)),
        blocks(a.blocks.dim(0)),
        most(a.window),
        ahead(a.ahead) {}
  KOLMO_HD int units() const { return sizes.hidden; }
  KOLMO_HD int left() const { return state + units(); }
  // Right: gates n, r, z, q; arguments of the head, a sigmoid(a), a one.
  KOLMO_HD int head() const { return 4 * units(); }
  KOLMO_HD int product() const { return head() + MemberSizes::head; }
  KOLMO_HD int right() const { return product() + MemberSizes::head + 1; }
  /// Numbers of a window's rows, with what is kept from block to block: z dh, the four parts of the sum for dh, those for dx.
  KOLMO_HD std::int64_t of_window() const {
    return most * (left() + right()) + 5 * units() + 4 * input_parts;
  }
  /// Weights that are transposed: R and A.
  KOLMO_HD std::int64_t transposed() const {
    return std::int64_t(units()) * (3 * units() + MemberSizes::head);
  }
  KOLMO_HD std::int64_t start(const std::int64_t* of, std::int64_t member) const {
    const std::int64_t s = of[member];
    return s <= MemberSizes::first_head ? MemberSizes::first_head + 1 : s >= most ? most - 1 : s;
  }
  KOLMO_HD std::int64_t end(std::int64_t start) const { return start + ahead < most ? start + ahead : most; }
};

template <class T>
KOLMO_HD T sigmoid_of(T x) {
  return 1 / (1 + std::exp(-x));
}

/// Transposes R and A, so that threads of neighbouring units read neighbouring weights.
template <class T>
struct TransposeWeights {
  GradientSizes size;
  const T* parameters;
  T* to;

  std::int64_t items() const { return size.members * size.transposed(); }
  KOLMO_HD void operator()(std::int64_t i) const {
    const std::int64_t member = i / size.transposed(), at = i - member * size.transposed(), n = size.units(),
                       row = at / n, unit = at - row * n;
    const T* const from = parameters + member * size.sizes.count();
    to[i] = row < 3 * n ? from[size.sizes.recurrent() + unit * 3 * n + row]
                        : from[size.sizes.of_state() + unit * MemberSizes::head + row - 3 * n];
  }
};

/// Runs a member over a window, and back, by a team: fills its rows.
template <class T>
struct RunWindow {
  static constexpr int inputs = MemberSizes::inputs, planned = MemberSizes::planned,
                       heads = MemberSizes::head, first_head = MemberSizes::first_head;
  using S = GradientSizes;
  GradientSizes size;
  const T *blocks, *plans, *trace, *parameters, *transposed;
  const std::int64_t *first, *length, *starts;
  T closed;
  T *rows, *losses;

  std::int64_t items() const { return size.members * size.windows; }
  KOLMO_HD std::int64_t scratch() const { return 0; }
  template <class Team>
  KOLMO_HD void operator()(std::int64_t item, const Team& team, double*) const {
    const std::int64_t member = item / size.windows;
    Window<Team> w{*this,
                   team,
                   parameters + member * size.sizes.count(),
                   transposed + member * size.transposed(),
                   rows + item * size.of_window(),
                   first[item] < 0              ? 0
                   : first[item] >= size.blocks ? size.blocks - 1
                                                : first[item],
                   0,
                   int(size.start(starts, member)),
                   0};
    w.count = length[item] < size.blocks - w.from ? length[item] : size.blocks - w.from;
    w.end = int(size.end(w.start));
    w.load(), w.forward();
    const T loss = w.backward();
    if (team.first()) losses[item] = loss;
  }

  template <class Team>
  struct Window {
    const RunWindow& of;
    const Team& team;
    const T *weights, *across;
    T* rows;
    std::int64_t from, count;  ///< the first block, and how many there are
    int start, end;

    KOLMO_HD int n() const { return of.size.units(); }
    KOLMO_HD const MemberSizes& sizes() const { return of.size.sizes; }
    KOLMO_HD T* left(int t) const { return rows + std::int64_t(t) * of.size.left(); }
    KOLMO_HD T* right(int t) const {
      return rows + of.size.most * of.size.left() + std::int64_t(t) * of.size.right();
    }
    /// z dh, and the parts of the sums for dh and dx.
    KOLMO_HD T* kept() const { return rows + of.size.most * (of.size.left() + of.size.right()); }
    KOLMO_HD T* parts() const { return kept() + n(); }
    KOLMO_HD T* input_parts() const { return parts() + 4 * n(); }
    KOLMO_HD T weight(int t) const { return t < count ? 1 / T(of.size.windows) : T(0); }
    KOLMO_HD const T* trace_of(int t) const { return of.trace + (from + t) * 5; }
    KOLMO_HD T target(int t) const { return t < count ? trace_of(t)[0] : T(0); }

    KOLMO_HD void load() const {
      const int width = of.size.left(), wide = of.size.right(), gates = 4 * n();
      team.each(std::int64_t(end) * width, [&](std::int64_t i) {
        const int t = int(i / width), at = int(i - std::int64_t(t) * width);
        const bool there = t < count;
        rows[i] = at == S::one            ? T(1)
                  : at < inputs           ? there ? of.blocks[(from + t) * inputs + at] : T(0)
                            : at < inputs + planned ? there ? of.plans[(from + t) * planned + at - inputs] : T(0)
                                                    : T(0);
      });
      team.each(std::int64_t(end) * wide, [&](std::int64_t i) {
        const int t = int(i / wide), at = int(i - std::int64_t(t) * wide);
        if (at >= gates || t + 1 == end) right(t)[at] = at + 1 == wide ? T(1) : T(0);
      });
      team.each(5 * n() + 4 * S::input_parts, [&](std::int64_t i) { kept()[i] = 0; });
      team.sync();
    }
    /// Computes the state after block t.
    KOLMO_HD void step(int t) const {
      const int units = n(), width = 3 * units;
      const T *const x = left(t), *const h = x + S::state, *const bias = weights + sizes().bias(),
                     *const in = weights + sizes().input(), *const back = weights + sizes().recurrent();
      T* const gates = right(t);
      const auto of_input = [&](int gate) {  // of n, r, z
        T sum = bias[gate];
        for (int k = 0; k < inputs; ++k) sum += in[k * width + gate] * x[k];
        return sum;
      };
      team.each(width, [&](std::int64_t i) {
        const int p = int(i);
        T sum = p < 2 * units ? of_input(units + p) : bias[units + p];
        for (int k = 0; k < units; ++k) sum += back[std::int64_t(k) * width + p] * h[k];
        gates[units + p] = sum;
        if (p >= 2 * units) gates[p - 2 * units] = of_input(p - 2 * units);
      });
      team.sync();
      team.each(units, [&](std::int64_t i) {
        const T r = sigmoid_of(gates[units + i]), z = sigmoid_of(gates[2 * units + i]),
                c = std::tanh(gates[i] + r * gates[3 * units + i]);
        gates[i] = c, gates[units + i] = r, gates[2 * units + i] = z;
        left(t + 1)[S::state + i] = c + z * (h[i] - c);
      });
      team.sync();
    }
    /// Computes argument j of the head before block t.
    KOLMO_HD void head(int t, int j) const {
      const T *const row = left(t), *const h = row + S::state, *const c = row + S::of_planned;
      T a = weights[sizes().head_bias() + j];
      for (int k = 0; k < n(); ++k) a += weights[sizes().of_state() + k * heads + j] * h[k];
      for (int k = 0; k < planned; ++k) a += weights[sizes().of_plan() + k * heads + j] * c[k];
      right(t)[of.size.head() + j] = a, right(t)[of.size.product() + j] = a * sigmoid_of(a);
    }
    KOLMO_HD T change(int t) const {
      T d = weights[sizes().out_bias()];
      for (int j = 0; j < heads; ++j) d += weights[sizes().out() + j] * right(t)[of.size.product() + j];
      return d * T(0.1);
    }
    KOLMO_HD void forward() const {
      for (int t = 0; t < start; ++t) step(t);
      team.each(std::int64_t(start - first_head) * heads,
                [&](std::int64_t i) { head(first_head + int(i) / heads, int(i) % heads); });
      team.sync();
      team.each(start - first_head, [&](std::int64_t i) {
        const int t = first_head + int(i);
        left(t)[S::change] = change(t);
      });
      const T* const last = trace_of(start - 1 < count ? start - 1 : 0);
      LossTrace<T> y{last[0], last[1], last[2], last[3], last[4]};
      y.leave();
      for (int t = start; t < end; ++t) {
        team.each(heads, [&](std::int64_t j) { head(t, int(j)); });
        team.sync();
        if (team.first()) {
          T* const row = left(t);
          row[S::change] = change(t);
          y.write(y.imagine(row[S::change]), row, 1);
          row[7] = left(start - 1)[7], row[S::level] = y.level;
        }
        team.sync();
        if (t + 1 < end) step(t);
      }
    }
    /// The error of the prediction of block t from those before it.
    KOLMO_HD T error(int t) const {
      const T* const before = trace_of(t - 1);
      return t < count ? before[3] + LossTrace<T>::damping * before[4] + left(t)[S::change] - trace_of(t)[0]
                       : T(0);
    }
    /// Replaces the argument j of the head at block t by its gradient.
    KOLMO_HD void head_gradient(int t, int j) const {
      T& a = right(t)[of.size.head() + j];
      const T s = sigmoid_of(a);
      a = left(t)[S::of_d] * weights[sizes().out() + j] * (s + a * s * (1 - s));
    }
    /// The part of the gradient of unit i of the state before block t that comes from the head.
    KOLMO_HD T of_head(int t, int i) const {
      T sum = 0;
      for (int j = 0; j < heads; ++j)
        sum += across[std::int64_t(3 * n() + j) * n() + i] * right(t)[of.size.head() + j];
      return sum;
    }
    KOLMO_HD T of_state(int t, int i, int gate) const {
      T sum = 0;
      for (int k = 0; k < n(); ++k)
        sum += across[std::int64_t(gate * n() + k) * n() + i] * right(t)[(gate + 1) * n() + k];
      return sum;
    }
    /// Replaces the gates of block t by the gradients of their arguments. The gradient of the state after it is the sum of the parts.
    KOLMO_HD void gates(int t) const {
      const int units = n();
      T *const g = right(t), *const kept_of = kept(), *const part = parts();
      const T* const h = left(t) + S::state;
      team.each(units, [&](std::int64_t i) {
        const T of_h = kept_of[i] + part[i] + part[units + i] + part[2 * units + i] + part[3 * units + i],
                c = g[i], r = g[units + i], z = g[2 * units + i], q = g[3 * units + i],
                of_c = of_h * (1 - z) * (1 - c * c);
        kept_of[i] = of_h * z;
        g[i] = of_c, g[units + i] = of_c * q * r * (1 - r);
        g[2 * units + i] = of_h * (h[i] - c) * z * (1 - z), g[3 * units + i] = of_c * r;
      });
      team.sync();
    }
    /// Returns the loss to the first thread.
    KOLMO_HD T backward() const {
      const int units = n();
      team.each(start - first_head, [&](std::int64_t i) {
        const int t = first_head + int(i);
        const T share = weight(t) / T(start);
        left(t)[S::level] = huber_loss(error(t), share);
        left(t)[S::of_d] = T(0.1) * huber_slope(error(t), share);
      });
      team.sync();
      team.each(std::int64_t(start - first_head) * heads,
                [&](std::int64_t i) { head_gradient(first_head + int(i) / heads, int(i) % heads); });
      T of_level = 0, of_fast = 0, of_slow = 0, loss = 0;
      for (int t = end - 1; t >= 0; --t) {
        const bool inner = t + 1 < end;
        if (inner) gates(t);
        if (t < start) {
          team.each(4 * units, [&](std::int64_t e) {
            const int gate = int(e) / units, i = int(e) % units;
            parts()[e] = gate < 3 ? of_state(t, i, gate) : t >= first_head ? of_head(t, i) : T(0);
          });
          team.sync();
          continue;
        }
        if (inner) of_inputs(t);
        if (team.first()) loss += of_prediction(t, of_level, of_fast, of_slow);
        team.sync();
        team.each(heads, [&](std::int64_t j) { head_gradient(t, int(j)); });
        team.sync();
        team.each(units, [&](std::int64_t i) { parts()[3 * units + i] = of_head(t, int(i)); });
        team.sync();
      }
      if (team.first())
        for (int t = first_head; t < start; ++t) loss += left(t)[S::level];
      return loss;
    }
    /// Computes the parts of the gradients of the state before block t in closed loop, and of its inputs 0 to 3.
    KOLMO_HD void of_inputs(int t) const {
      const int units = n(), width = 3 * units;
      const T* const in = weights + sizes().input();
      team.each(width + 4 * S::input_parts, [&](std::int64_t e) {
        if (e < width) {
          parts()[e] = of_state(t, int(e) % units, int(e) / units);
          return;
        }
        const int at = int(e) - width, input = at / S::input_parts;
        T sum = 0;
        for (int p = at % S::input_parts; p < width; p += S::input_parts)
          sum += in[input * width + p] * right(t)[p];
        input_parts()[at] = sum;
      });
      team.sync();
    }
    /// Sets the gradient of d of block t in closed loop; the other gradients are those of the trace. Returns the block's loss.
    KOLMO_HD T of_prediction(int t, T& of_level, T& of_fast, T& of_slow) const {
      T x[4] = {};
      for (int i = 0; i < 4 * S::input_parts; ++i) x[i / S::input_parts] += input_parts()[i];
      const T fast = of_fast + 10 * x[2], slow = of_slow + 5 * x[3], off = left(t)[S::level] - target(t);
      of_level += x[0] - 10 * x[2] - 5 * x[3] + LossTrace<T>::fast * fast + LossTrace<T>::slow * slow +
                  huber_slope(off, of.closed * weight(t));
      of_fast = (1 - LossTrace<T>::fast) * fast, of_slow = (1 - LossTrace<T>::slow) * slow;
      T of_change = of_level + 10 * x[1], loss = huber_loss(off, of.closed * weight(t));
      if (t == start) {
        of_change += huber_slope(error(t), weight(t) / T(start));
        loss += huber_loss(error(t), weight(t) / T(start));
      }
      left(t)[S::of_d] = T(0.1) * of_change;
      return loss;
    }
  };
};

}  // namespace kolmo
