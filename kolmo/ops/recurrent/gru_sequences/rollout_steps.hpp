#pragma once
#include <optional>
#include <utility>

#include "kolmo/ops/recurrent/gru_sequences/gru_steps.hpp"
#include "kolmo/ops/recurrent/gru_sequences/rollout_latent.hpp"
#include "kolmo/skeleton/each_team.hpp"

namespace kolmo {

/// Separates the features: those without the loss are stored once for each member, the loss for each row.
template <class T>
struct SplitFeatures {
  RolloutSizes size;
  const T* features;
  T *rest, *loss;

  std::int64_t items() const { return size.rows * size.k; }
  KOLMO_HD void operator()(std::int64_t i) const {
    const std::int64_t row = i / size.k, j = i - row * size.k;
    const T value = features[row % size.batch * size.k + j];
    rest[i] = j ? value : T(0);
    if (!j) loss[row] = value;
  }
};
/// Adds the bias to the part that comes from the features, and stores the weights of the loss side by side.
template <class T>
struct PrepareInput {
  RolloutSizes size;
  const T *weights, *bias;
  T *u, *slope;

  std::int64_t items() const { return size.rows * 3 * size.n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    const std::int64_t width = 3 * size.n, row = i / width, member = row / size.batch,
                       at = member * width + i - row * width;
    if (bias) u[i] += bias[at];
    if (row == member * size.batch) slope[at] = weights[at * size.k];
  }
};
template <class T>
struct CopyStates {
  RolloutSizes size;
  const T* from;
  T* to;
  bool out;  ///< whether to copy from the workspace to the arguments, or back

  std::int64_t items() const { return size.rows * size.n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    const std::int64_t row = i / size.n, outside = size.outer(row) * size.n + i - row * size.n;
    to[out ? outside : i] = from[out ? i : outside];
  }
};

/// Where the results of a step are written.
template <class T>
struct RolloutOutputs {
  T *loss, *norms, *entropy;
  explicit RolloutOutputs(const RssmRolloutArgs& a)
      : loss(a.loss.as<T>()), norms(a.hidden_norms.as<T>()), entropy(a.entropy.as<T>()) {}
  KOLMO_HD void write(std::int64_t at, double l, double squares, double e) const {
    loss[at] = T(l), norms[at] = T(std::sqrt(squares)), entropy[at] = T(e);
  }
};
/// The exponential of a sum that is first limited to the range from -10 to 10; NaN stays NaN.
template <class C>
KOLMO_HD C loss_of(C sum) {
  return std::exp(sum < C(-10) ? C(-10) : sum > C(10) ? C(10) : sum);
}

/// Computes the loss, the entropy and the norm of a row's new state, and its latent if that is fed back, by a team. At step -1,
/// the state being the one given, computes the latent alone.
template <class T>
struct Decode {
  RolloutSizes size;
  const T *state, *head_hidden, *head_stochastic;
  T *loss, *latent;
  RolloutOutputs<T> outputs;
  LatentDraws draws;
  std::int64_t step;

  std::int64_t items() const { return size.rows; }
  KOLMO_HD std::int64_t scratch() const { return 0; }
  template <class Team>
  KOLMO_HD void operator()(std::int64_t row, const Team& team, double*) const {
    const std::int64_t member = row / size.batch, count = size.categories;
    const T *const h = state + row * size.n, *const of_hidden = head_hidden + member * size.n,
                   *const of_latent = head_stochastic + member * count;
    const Categories<T> categories{h, size.n, count};
    const double most = categories.most();
    double sum = 0, squares = 0, weight = 0, logits = 0, total = 0;
    team.each(size.n, [&](std::int64_t i) {
      sum += double(h[i]) * double(of_hidden[i]), squares += double(h[i]) * double(h[i]);
    });
    team.each(count, [&](std::int64_t i) {
      const double below = categories.logit(i) - most, e = std::exp(below);
      total += e, logits += e * below, weight += e * double(of_latent[i]);
    });
    sum = team.sum(sum), squares = team.sum(squares);
    total = team.sum(total), logits = team.sum(logits), weight = team.sum(weight);
    const std::int64_t drawn = draws.sample ? draws(size, categories, row, step + 1) : -1;
    if (latent)
      team.each(count, [&](std::int64_t i) {
        const double share = draws.sample ? double(i == drawn) : std::exp(categories.logit(i) - most) / total;
        latent[row * count + i] = T(share);
      });
    if (!team.first() || step < 0) return;
    if (count) sum += draws.sample ? double(of_latent[drawn]) : weight / total;
    const double next = loss_of(sum);
    loss[row] = T(next);
    outputs.write(size.outer(row) * size.steps + step, next, squares,
                  count ? std::log(total) - logits / total : 0);
  }
};

/// Computes what follows from the losses. There is one item for each member of each batch index, then one for
/// each of its steps.
template <class T>
struct Summary {
  RolloutSizes size;
  const T *features, *loss;
  T *deltas, *variance, *smoothness, *mean, *spread;

  Summary(const RolloutSizes& s, const RssmRolloutArgs& a)
      : size(s),
        features(a.features.as<T>()),
        loss(a.loss.as<T>()),
        deltas(a.step_deltas.as<T>()),
        variance(a.variance.as<T>()),
        smoothness(a.smoothness.as<T>()),
        mean(a.mean.as<T>()),
        spread(a.spread.as<T>()) {}
  std::int64_t items() const { return size.rows + size.batch * size.steps; }
  KOLMO_HD void operator()(std::int64_t i) const {
    if (i < size.rows)
      along_time(i);
    else
      across_members(i - size.rows);
  }

 private:
  KOLMO_HD void along_time(std::int64_t row) const {
    const T* const own = loss + row * size.steps;
    const double first = double(features[row / size.members * size.k]);
    double before = first, now = first, sum = 0, turns = 0, squares = 0;
    for (std::int64_t t = 0; t < size.steps; ++t) {
      const double next = double(own[t]);
      deltas[row * size.steps + t] = T(std::abs(next - now));
      if (t) turns += std::abs((next - now) - (now - before));
      sum += next - first, before = now, now = next;
    }
    const double middle = sum / double(size.steps + 1);  // the mean of L_t - L_0
    for (std::int64_t t = -1; t < size.steps; ++t) {
      const double off = (t < 0 ? 0 : double(own[t]) - first) - middle;
      squares += off * off;
    }
    variance[row] = T(squares / double(size.steps + 1));
    smoothness[row] = T(size.steps > 1 ? turns / double(size.steps - 1) : 0);
  }
  KOLMO_HD void across_members(std::int64_t i) const {
    const std::int64_t b = i / size.steps, t = i - b * size.steps;
    const T* const own = loss + b * size.members * size.steps + t;
    double sum = 0, squares = 0;
    for (std::int64_t e = 0; e < size.members; ++e) sum += double(own[e * size.steps]);
    const double middle = sum / double(size.members);
    for (std::int64_t e = 0; e < size.members; ++e) {
      const double off = double(own[e * size.steps]) - middle;
      squares += off * off;
    }
    mean[i] = T(middle), spread[i] = T(squares / double(size.members));
  }
};

/// What every way of computing a rollout needs: u = W x + b for each row, without its loss; the loss; the
/// weights of the loss.
struct RolloutInput {
  RolloutSizes size;
  Tensor rest;
  void *loss, *slope;
  GateProduct u;

  RolloutInput(Arena& arena, const RssmRolloutArgs& a)
      : size(a),
        rest(tensor(take(arena, a, size.rows * size.k), a.h.dtype,
                    std::array{size.members, size.batch, size.k}, a.h.device)),
        loss(take(arena, a, size.rows)),
        slope(take(arena, a, size.members * 3 * size.n)),
        u(arena, rest, a.weight_ih, {}) {}
  void lay(Arena& arena, const Site& site) const { u.lay(arena, site); }
  template <class T, class Each>
  MemberInput<T> prepare(const RssmRolloutArgs& a, Arena& arena, Stream& s, const Each& each) const {
    T* const all = u.result<T>();
    each(SplitFeatures<T>{size, a.features.as<T>(), rest.as<T>(), static_cast<T*>(loss)});
    u.run(arena, s);
    each(PrepareInput<T>{size, a.weight_ih.as<T>(), a.bias_ih.as<T>(), all, static_cast<T*>(slope)});
    return {all, 3 * size.n, static_cast<T*>(slope), static_cast<T*>(loss), a.bias_hh.as<T>(), size.batch};
  }
  static void* take(Arena& arena, const RssmRolloutArgs& a, std::int64_t n) {
    return arena.take<std::byte>(n * std::int64_t(size_of(a.h.dtype)));
  }
};

/// The workspace of rssm_rollout, if it is computed step by step. If the reset comes before the product, the
/// weights of r and z are separated from those of n once, so that each product is one over all members.
struct RolloutSteps {
  bool before;
  RolloutInput in;
  Tensor of_gates, of_candidate, latent;
  StateProducts v;
  std::optional<GateProduct> of_latent;
  void* u;  ///< the inputs of a step, if they change from step to step

  RolloutSteps(Arena& arena, const RssmRolloutArgs& a)
      : before(a.reset == GruReset::before),
        in(arena, a),
        of_gates(before ? buffer(arena, a, 2 * in.size.n) : Tensor(a.weight_hh)),
        of_candidate(buffer(arena, a, before ? in.size.n : 0)),
        latent(buffer(arena, a, a.weight_latent.given() ? in.size.batch : 0, in.size.categories)),
        v(arena, buffer(arena, a, in.size.batch), {of_gates, {}}, {of_candidate, {}}, before),
        u(RolloutInput::take(arena, a, changes(a) ? in.size.rows * 3 * in.size.n : 0)) {
    if (a.weight_latent.given()) of_latent.emplace(arena, latent, a.weight_latent, Tensor{});
  }
  void lay(Arena& arena, const Site& site) const {
    in.lay(arena, site), v.lay(arena, site);
    if (of_latent) of_latent->lay(arena, site);
  }
  /// Whether the inputs of the gates, apart from the loss, change from step to step.
  static bool changes(const RssmRolloutArgs& a) { return a.controls.given() || a.weight_latent.given(); }

 private:
  Tensor buffer(Arena& arena, const RssmRolloutArgs& a, std::int64_t rows) const {
    return buffer(arena, a, rows, in.size.n);
  }
  Tensor buffer(Arena& arena, const RssmRolloutArgs& a, std::int64_t rows, std::int64_t columns) const {
    return tensor(RolloutInput::take(arena, a, in.size.members * rows * columns), a.h.dtype,
                  std::array{in.size.members, rows, columns}, a.h.device);
  }
};
/// Separates the weights of the gates r and z from those of n, a row at a time.
template <class T>
struct PartWeights {
  const T* weights;
  T *gates, *candidate;
  std::int64_t n, count;  ///< number of units; rows of weights of all members

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t row) const {
    const std::int64_t member = row / (3 * n), at = row - member * 3 * n;
    const T* const from = weights + row * n;
    T* const to = at < 2 * n ? gates + (member * 2 * n + at) * n : candidate + (member * n + at - 2 * n) * n;
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
  }
};

/// Computes rssm_rollout step by step. each(f) calls f(i) for all items of f; teams(f) does the same with
/// teams.
template <class T, class Each, class Teams>
void rollout_by_steps(const RssmRolloutArgs& a, Arena& arena, Stream& s, const Each& each,
                      const Teams& teams) {
  const RolloutSteps w(arena, a);
  const RolloutSizes& size = w.in.size;
  T* const state = w.v.state.as<T>();
  MemberInput<T> in = w.in.prepare<T>(a, arena, s, each);
  const T* const of_features = in.u;
  const LatentDraws draws(a);
  each(CopyStates<T>{size, a.h.as<T>(), state, false});
  if (w.before)
    each(PartWeights<T>{a.weight_hh.as<T>(), w.of_gates.as<T>(), w.of_candidate.as<T>(), size.n,
                        size.members * 3 * size.n});
  const auto decode = [&](std::int64_t t) {
    teams(Decode<T>{size, state, a.head_hidden.as<T>(), a.head_stochastic.as<T>(), static_cast<T*>(w.in.loss),
                    w.of_latent ? w.latent.as<T>() : nullptr, RolloutOutputs<T>(a), draws, t});
  };
  if (w.of_latent) decode(-1);
  for (std::int64_t t = 0; t < size.steps; ++t) {
    Arena scratch = arena;  // for this step only
    if (w.of_latent) w.of_latent->run(scratch, s);
    if (w.changes(a)) {
      in.u = static_cast<T*>(w.u);
      each(StepInputs<T>{size, of_features, w.of_latent ? w.of_latent->result<T>() : nullptr,
                         a.controls.as<T>(), a.weight_controls.as<T>(),
                         a.controls.given() ? a.controls.dim(-1) : 0, static_cast<T*>(w.u), t});
    }
    w.v.step<T>(in, state, nullptr, 0, scratch, s, each);
    decode(t);
  }
  each(Summary<T>(size, a));
  if (a.last.given()) each(CopyStates<T>{size, state, a.last.as<T>(), true});
}

}  // namespace kolmo
