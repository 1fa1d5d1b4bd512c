#pragma once
#include "kolmo/base/arena.hpp"
#include "kolmo/base/exp.hpp"
#include "kolmo/base/status.hpp"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/training/weights_average/weights_average.hpp"

namespace kolmo {

/// Computes the share s of the new weights in each average.
template <class R>
struct AverageShares {
  Status status;
  const bool* power;
  const double* memory;
  R* share;
  std::int64_t count;
  double step;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t j) const {
    const double value = memory[j], each = 1 / step;
    if (!(value >= 0 && value <= (power[j] ? 1e300 : 1))) status.report(0, j);
    if (power[j])
      share[j] = R(step == 1 ? 1 : 1 - exp_exact(exact_mul(exact_add(value, 1), log_exact(1 - each))));
    else
      share[j] = R(1 - value > each ? 1 - value : each);
  }
};

/// Lets a weight join its averages.
template <class T, class R>
struct AveragedWeight {
  const T* weights;
  R* averages;
  const R* share;
  std::int64_t n, m;

  std::int64_t items() const { return n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    const R w = R(Compute<T>(weights[i]));
    for (std::int64_t j = 0; j < m; ++j) join(w, share[j], averages[j * n + i]);
  }
  KOLMO_HD static void join(R w, R share, R& average) {
    average = share == R(1) ? w : exact_add(average, exact_mul(share, exact_add(w, -average)));
  }
};

/// Calls step(f) for the functor f of each step.
template <class Step>
void average_steps(const WeightsAverageArgs& a, Arena& arena, Status status, const Step& step) {
  visit<double, float>(a.averages.dtype, [&]<class R> {
    R* const share = arena.take<R>(a.memory.size());
    step(AverageShares<R>{status, a.power.as<bool>(), a.memory.as<double>(), share, a.memory.size(),
                          double(a.step)});
    visit<double, float, Half, BFloat16>(a.weights.dtype, [&]<class T> {
      step(AveragedWeight<T, R>{a.weights.as<T>(), a.averages.as<R>(), share, a.weights.size(),
                                a.memory.size()});
    });
  });
}
inline void lay_average(Arena& arena, const WeightsAverageArgs& a, const Site&) {
  arena.take<std::byte>(a.memory.size() * std::int64_t(size_of(a.averages.dtype)));
}

}  // namespace kolmo
