#pragma once
#include "kolmo/base/arena.hpp"
#include "kolmo/ops/training/world_model_gradient/run_window.hpp"

namespace kolmo {

/// Sums a parameter's gradient over the rows of a slice of the windows.
template <class T>
struct SumRows {
  using S = GradientSizes;
  GradientSizes size;
  const T* rows;
  const std::int64_t* starts;
  T* sums;

  std::int64_t items() const { return size.members * S::slices * size.sizes.count(); }
  KOLMO_HD void operator()(std::int64_t item) const {
    const std::int64_t all = item / size.sizes.count(), i = item - all * size.sizes.count(),
                       member = all / S::slices, slice = all - member * S::slices;
    const int n = size.units(), width = 3 * n, heads = MemberSizes::head;
    const MemberSizes& s = size.sizes;
    const auto within = [&](std::ptrdiff_t first, int columns, int left, int right) {
      const int at = int(i - first), row = at / columns;
      return Pair{left + row, right + at - row * columns};
    };
    const Pair p = i < s.recurrent()   ? within(0, width, 0, 0)
                   : i < s.bias()      ? within(s.recurrent(), width, S::state, n)
                   : i < s.of_state()  ? within(s.bias(), 4 * n, S::one, 0)
                   : i < s.of_plan()   ? within(s.of_state(), heads, S::state, size.head())
                   : i < s.head_bias() ? within(s.of_plan(), heads, S::of_planned, size.head())
                   : i < s.out()       ? within(s.head_bias(), heads, S::one, size.head())
                                       : within(s.out(), heads + 1, S::of_d, size.product());
    const int end = int(size.end(size.start(starts, member)));
    T sum = 0;
    for (std::int64_t w = slice; w < size.windows; w += S::slices) {
      const T *const left = rows + (member * size.windows + w) * size.of_window(), *const right =
                                                                                       left + size.most *
                                                                                                  size.left();
      for (int t = 0; t < end; ++t) sum += left[t * size.left() + p.left] * right[t * size.right() + p.right];
    }
    sums[item] = sum;
  }

 private:
  struct Pair {
    int left, right;
  };
};

/// Adds the slices of a member's gradient and clips it, by a team.
template <class T>
struct FinishGradient {
  GradientSizes size;
  const T *sums, *losses;
  double clip;  ///< below 0: it is not clipped
  T *gradient, *loss;

  std::int64_t items() const { return size.members; }
  KOLMO_HD std::int64_t scratch() const { return 0; }
  template <class Team>
  KOLMO_HD void operator()(std::int64_t member, const Team& team, double*) const {
    const std::int64_t count = size.sizes.count();
    T* const g = gradient + member * count;
    const double squares = team_sum(team, count, [&](std::int64_t i) {
      T sum = 0;
      for (int s = 0; s < GradientSizes::slices; ++s)
        sum += sums[(member * GradientSizes::slices + s) * count + i];
      g[i] = sum;
      return double(sum) * double(sum);
    });
    const double all = team_sum(team, size.windows,
                                [&](std::int64_t w) { return double(losses[member * size.windows + w]); });
    if (team.first()) loss[member] = T(all);
    if (clip < 0) return;
    const T scale = T(clip_scale(squares, clip));
    team.each(count, [&](std::int64_t i) { g[i] *= scale; });
  }
};

/// The workspace, and the steps: each(f) calls f(i) for all items of f, teams(f) does so by teams.
template <class T>
struct GradientSteps {
  GradientSizes size;
  T *transposed, *rows, *losses, *sums;

  GradientSteps(Arena& arena, const WorldModelGradientArgs& a)
      : size(a),
        transposed(arena.take<T>(size.members * size.transposed())),
        rows(arena.take<T>(size.members * size.windows * size.of_window())),
        losses(arena.take<T>(size.members * size.windows)),
        sums(arena.take<T>(size.members * GradientSizes::slices * size.sizes.count())) {}
  template <class Each, class Teams>
  void run(const WorldModelGradientArgs& a, const Each& each, const Teams& teams) const {
    const T* const parameters = a.parameters.as<T>();
    const std::int64_t *const first = a.first.as<std::int64_t>(), *const starts = a.start.as<std::int64_t>();
    each(TransposeWeights<T>{size, parameters, transposed});
    teams(RunWindow<T>{size, a.blocks.as<T>(), a.planned.as<T>(), a.trace.as<T>(), parameters, transposed,
                       first, a.length.as<std::int64_t>(), starts, T(a.closed), rows, losses});
    each(SumRows<T>{size, rows, starts, sums});
    teams(FinishGradient<T>{size, sums, losses, a.clip.value_or(-1), a.gradient.as<T>(), a.loss.as<T>()});
  }
};

}  // namespace kolmo
