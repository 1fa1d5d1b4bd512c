#pragma once
// A rollout adds two inputs to a step beside the features: the planned inputs, and the latent of the state.
#include <cmath>

#include "kolmo/base/exp.hpp"
#include "kolmo/base/random.hpp"
#include "kolmo/ops/recurrent/gru_sequences/gru_sequences.hpp"

namespace kolmo {

/// The sizes of a rollout. Rows of its workspace are ordered by member, then by batch index.
struct RolloutSizes {
  std::int64_t members, n, k, categories, batch, rows, steps;
  explicit RolloutSizes(const RssmRolloutArgs& a)
      : members(a.h.dim(-2)),
        n(a.h.dim(-1)),
        k(a.features.dim(-1)),
        categories(a.head_stochastic.dim(-1)),
        batch(k ? a.features.size() / k : 0),
        rows(batch * members),
        steps(a.loss.dim(-1)) {}
  /// The number of a row in the arguments, whose rows are ordered by batch index and then by member.
  KOLMO_HD std::int64_t outer(std::int64_t row) const {
    const std::int64_t member = row / batch;
    return (row - member * batch) * members + member;
  }
};

/// The categories of a state: their logits are elements of it.
template <class T>
struct Categories {
  const T* h;
  std::int64_t n, count;

  KOLMO_HD double logit(std::int64_t i) const { return double(h[i * n / count]); }
  /// The first element of h is the first logit.
  KOLMO_HD double most() const {
    double most = double(h[0]);
    for (std::int64_t i = 1; i < count; ++i) most = logit(i) > most ? logit(i) : most;
    return most;
  }
  /// Inverts the distribution function at u. The sums have the same bits on every device.
  KOLMO_HD std::int64_t draw(double u) const {
    const double above = most();
    double all = 0, sum = 0;
    for (std::int64_t i = 0; i < count; ++i) all = exact_add(all, exp_exact(exact_add(logit(i), -above)));
    const double limit = exact_mul(u, all);
    for (std::int64_t i = 0; i + 1 < count; ++i) {
      sum = exact_add(sum, exp_exact(exact_add(logit(i), -above)));
      if (sum > limit) return i;
    }
    return count - 1;
  }
};
/// Draws the category of a row after t steps, t = 0 being the state that is given.
struct LatentDraws {
  bool sample;
  std::uint64_t seed;
  std::int64_t offset;
  explicit LatentDraws(const RssmRolloutArgs& a)
      : sample(a.sample && a.head_stochastic.dim(-1) > 0), seed(a.seed), offset(a.offset) {}
  template <class T>
  KOLMO_HD std::int64_t operator()(const RolloutSizes& size, const Categories<T>& of, std::int64_t row,
                                   std::int64_t t) const {
    const std::int64_t e = offset + size.outer(row) * (size.steps + 1) + t;
    return of.draw(UniformValue<double>{0, 1}(Philox(seed)(std::uint64_t(e / 2), 0), int(e % 2)));
  }
};

/// Computes the inputs of the gates at a step: those of the features, of the latent and of the plan.
template <class T>
struct StepInputs {
  RolloutSizes size;
  const T *of_features, *of_latent, *controls, *weights;  ///< of_latent, controls: null if there are none
  std::int64_t planned;                                   ///< number of planned inputs
  T* u;
  std::int64_t step;

  std::int64_t items() const { return size.rows * 3 * size.n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    const std::int64_t width = 3 * size.n, row = i / width, gate = i - row * width, member = row / size.batch;
    T sum = of_features[i];
    if (of_latent) sum += of_latent[i];
    if (controls) {
      const T* const c = controls + ((row - member * size.batch) * size.steps + step) * planned;
      const T* const w = weights + (member * width + gate) * planned;
      for (std::int64_t j = 0; j < planned; ++j) sum += w[j] * c[j];
    }
    u[i] = sum;
  }
};

}  // namespace kolmo
