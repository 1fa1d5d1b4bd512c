#include "kolmo/ops/recurrent/gru_sequences/gru_sequences.hpp"

#include <algorithm>
#include <string>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/recurrent/gru_sequences/rollout_steps.hpp"
#include "kolmo/ops/recurrent/rows.hpp"

namespace kolmo {
namespace {
using Forward = GruForwardArgs;
using Rollout = RssmRolloutArgs;

struct CpuTeams {
  Stream& stream;
  template <class F>
  void operator()(const F& f) const {
    parallel_for(stream.threads(), f.items(), [&](std::int64_t i, int) { f(i, LoneThread(), nullptr); });
  }
};

void check_gates(const char* op, std::int64_t rows, std::int64_t n) {
  if (rows != 3 * n)
    fail<InvalidArgument>(std::string(op) + ": weight_ih has " + std::to_string(rows) + " rows, but " +
                          std::to_string(n) + " units need " + std::to_string(3 * n));
}
void check_rollout(const Rollout& a) {
  check_gates("rssm_rollout", a.weight_ih.dim(1), a.h.dim(-1));
  require(a.features.dim(-1) > 0, "rssm_rollout: features is empty, its first element is the loss");
  require(a.h.dim(-1) > 0 && a.h.dim(-2) > 0, "rssm_rollout: h has no units or no members");
  require(a.controls.given() == a.weight_controls.given(),
          "rssm_rollout: controls and weight_controls must be given together");
}

/// Operations of `rows` steps of n units: products and sums of the gates, and 30 for each of the three
/// functions.
double step_flops(double rows, double n) { return rows * (2 * 3 * n * n + 90 * n); }
double forward_flops(const Forward& a) {
  const double n = double(a.h.dim(-1)), rows = n > 0 ? double(a.states.size()) / n : 0;
  return rows * 2 * 3 * n * double(a.x.dim(-1)) + step_flops(rows, n);
}
double rollout_flops(const Rollout& a) {
  const RolloutSizes s(a);
  const double n = double(s.n), rows = double(s.rows), steps = double(s.steps);
  const double added = (a.controls.given() ? double(a.controls.dim(-1)) : 0) +
                       (a.weight_latent.given() ? double(s.categories) : 0);
  // A step takes the heads, the norm and the exponentials; the features are multiplied once.
  return rows * 6 * n * double(s.k) +
         steps * (step_flops(rows, n) + rows * (6 * n * added + 4 * n + 36 * double(s.categories)));
}

// Weights are drawn with standard deviation 1 / (4 sqrt n), so that W has a spectral norm near 1/2 and a step
// hardly enlarges the error of the state before it: by z + (1 - z) / 2 + (|n - h| + |h|) / 8 < 1.3 for
// |h| < 1. An argument of a gate is a sum of K = n + k terms of 1/4 with partial sums near 1, so its K
// roundings add to below 2 K + 16 units, of which a state takes less than twice. T steps give the error of
// one step times (1.3^T - 1) / 0.3, which is less than 4 T for T <= 9.
constexpr double bound(double terms, double steps) { return 2 * (2 * terms + 16) * steps * 4; }
template <class T, class A>
void shrink(A& a) {
  const double n = double(a.h.dim(-1));
  for (Tensor* const w : {static_cast<Tensor*>(&a.weight_ih), static_cast<Tensor*>(&a.weight_hh)})
    for (std::int64_t i = 0; i < w->size(); ++i)
      w->as<T>()[i] = T(double(w->as<T>()[i]) / (4 * std::sqrt(n)));
}
template <class T>
void forward_before(Forward& a) {
  shrink<T>(a), a.reset = GruReset::before;
}

// A 16-bit state is rounded at each step, and so is r h.
constexpr Tolerance f16 = {8 * 0x1p-11, 0}, bf16 = {8 * 0x1p-8, 0};
constexpr Case<Forward> forward_cases[] = {
    {.name = "one unit, one step",
     .sizes = {{"...", 3}, {"t", 1}, {"n", 1}, {"k", 1}, {"g", 3}},
     .tolerance = absolute(bound(2, 1) * 0x1p-53),
     .setup = shrink<double>},
    {.name = "9 steps of 17 units",
     .sizes = {{"...", 2}, {"t", 9}, {"n", 17}, {"k", 5}, {"g", 51}},
     .tolerance = absolute(bound(22, 9) * 0x1p-53),
     .optional = "bias_ih bias_hh last",
     .setup = shrink<double>},
    {.name = "9 steps of 33 units, reset before",
     .sizes = {{"...", 2}, {"t", 9}, {"n", 33}, {"k", 65}, {"g", 99}},
     .tolerance = absolute(bound(98, 9) * 0x1p-53),
     .optional = "bias_hh",
     .setup = forward_before<double>},
    {.name = "6 steps of 65 units, f32",
     .sizes = {{"...", 3}, {"t", 6}, {"n", 65}, {"k", 7}, {"g", 195}},
     .dtype = DType::f32,
     .tolerance = absolute(bound(72, 6) * 0x1p-24),
     .optional = "bias_ih last",
     .setup = shrink<float>},
    {.name = "4 steps of 34 units, reset before, f32",
     .sizes = {{"...", 1}, {"t", 4}, {"n", 34}, {"k", 3}, {"g", 102}},
     .dtype = DType::f32,
     .tolerance = absolute(bound(37, 4) * 0x1p-24),
     .optional = "bias_ih bias_hh",
     .setup = forward_before<float>},
    {.name = "5 steps of 16 units, reset before, f16",
     .sizes = {{"...", 2}, {"t", 5}, {"n", 16}, {"k", 8}, {"g", 48}},
     .dtype = DType::f16,
     .tolerance = f16,
     .optional = "bias_ih bias_hh last",
     .setup = forward_before<Half>},
    {.name = "5 steps of 16 units, bf16",
     .sizes = {{"...", 2}, {"t", 5}, {"n", 16}, {"k", 8}, {"g", 48}},
     .dtype = DType::bf16,
     .tolerance = bf16,
     .optional = "bias_hh",
     .setup = shrink<BFloat16>},
    {.name = "3 steps of 600 units, f32",
     .sizes = {{"...", 2}, {"t", 3}, {"n", 600}, {"k", 3}, {"g", 1800}},
     .dtype = DType::f32,
     .tolerance = absolute(bound(603, 3) * 0x1p-24),
     .optional = "bias_ih bias_hh last",
     .setup = shrink<float>},
    {.name = "50 steps of 64 units, f32",
     .sizes = {{"...", 1}, {"t", 50}, {"n", 64}, {"k", 64}, {"g", 192}},
     .dtype = DType::f32,
     .optional = "bias_ih bias_hh",
     .benchmark_only = true,
     .setup = shrink<float>},
    {.name = "50 steps of 128 units, f32",
     .sizes = {{"...", 1}, {"t", 50}, {"n", 128}, {"k", 64}, {"g", 384}},
     .dtype = DType::f32,
     .optional = "bias_ih bias_hh",
     .benchmark_only = true,
     .setup = shrink<float>},
    {.name = "50 steps of 256 units, f32",
     .sizes = {{"...", 1}, {"t", 50}, {"n", 256}, {"k", 64}, {"g", 768}},
     .dtype = DType::f32,
     .optional = "bias_ih bias_hh",
     .benchmark_only = true,
     .setup = shrink<float>},
    {.name = "50 steps of 512 units, f32",
     .sizes = {{"...", 1}, {"t", 50}, {"n", 512}, {"k", 64}, {"g", 1536}},
     .dtype = DType::f32,
     .optional = "bias_ih bias_hh",
     .benchmark_only = true,
     .setup = shrink<float>},
    {.name = "50 steps of 1024 units, f32",
     .sizes = {{"...", 1}, {"t", 50}, {"n", 1024}, {"k", 64}, {"g", 3072}},
     .dtype = DType::f32,
     .optional = "bias_ih bias_hh",
     .benchmark_only = true,
     .setup = shrink<float>},
    {.name = "50 steps of 64 times 256 units, f32",
     .sizes = {{"...", 64}, {"t", 50}, {"n", 256}, {"k", 64}, {"g", 768}},
     .dtype = DType::f32,
     .optional = "bias_ih bias_hh",
     .benchmark_only = true,
     .setup = shrink<float>},
};

constinit const Definition<Forward> forward_definition{
    {.name = "gru_forward",
     .summary = "h_t = GRU(x_t, h_(t-1)) over t steps, as gru_cell",
     .source = "Cho et al. 2014",
     .matrix_products = true,
     .in_place = true},
    {.check = [](const Forward& a) { check_gates("gru_forward", a.weight_ih.dim(0), a.h.dim(-1)); },
     .flops = forward_flops,
     .cases = forward_cases}};

/// Scales the weights as above, and the heads so that losses stay near 1; sets the losses to begin with.
template <class T>
void rollout(Rollout& a) {
  shrink<T>(a);
  for (Tensor* const w : {static_cast<Tensor*>(&a.head_hidden), static_cast<Tensor*>(&a.head_stochastic),
                          static_cast<Tensor*>(&a.weight_controls), static_cast<Tensor*>(&a.weight_latent)})
    for (std::int64_t i = 0; w->given() && i < w->size(); ++i)
      w->as<T>()[i] /= T(4 * std::sqrt(double(w->dim(-1))));
  for (std::int64_t i = 0; i < a.h.size(); ++i) a.h.as<T>()[i] = std::tanh(a.h.as<T>()[i]);
}
template <class T>
void sampled(Rollout& a) {
  rollout<T>(a), a.sample = true, a.seed = 5, a.offset = 3;
}
// The loss is fed back with a weight of 1 / (4 sqrt n): |dL| <= L |a| |dh| with |a| near 1/4 adds less than
// 1/8 to the growth of a step. A sum of 2 n or c terms and the exponential add to the error of a loss; a sum
// of losses below 4 adds to the rest. The factor 4 covers all of this.
constexpr double rollout_bound(double terms, double steps) { return 4 * bound(terms, steps); }
constexpr Case<Rollout> rollout_cases[] = {
    {.name = "one member of one unit, one step",
     .sizes = {{"...", 2}, {"m", 1}, {"n", 1}, {"k", 1}, {"g", 3}, {"c", 1}, {"steps", 1}},
     .tolerance = absolute(rollout_bound(2, 1) * 0x1p-53),
     .setup = rollout<double>},
    {.name = "3 members of 17 units, 9 steps",
     .sizes = {{"...", 2}, {"m", 3}, {"n", 17}, {"k", 5}, {"g", 51}, {"c", 7}, {"steps", 9}},
     .tolerance = absolute(rollout_bound(22, 9) * 0x1p-53),
     .optional = "bias_ih bias_hh last",
     .setup = rollout<double>},
    {.name = "reset after, more categories than units",
     .sizes = {{"...", 1}, {"m", 2}, {"n", 33}, {"k", 64}, {"g", 99}, {"c", 40}, {"steps", 6}},
     .tolerance = absolute(rollout_bound(97, 6) * 0x1p-53),
     .optional = "bias_hh",
     .setup = [](Rollout& a) { rollout<double>(a), a.reset = GruReset::after; }},
    {.name = "5 members of 65 units, f32",
     .sizes = {{"...", 1}, {"m", 5}, {"n", 65}, {"k", 64}, {"g", 195}, {"c", 32}, {"steps", 4}},
     .dtype = DType::f32,
     .tolerance = absolute(rollout_bound(129, 4) * 0x1p-24),
     .optional = "bias_ih last",
     .setup = rollout<float>},
    {.name = "planned inputs, probabilities fed back",
     .sizes = {{"...", 3}, {"m", 2}, {"n", 17}, {"k", 5}, {"g", 51}, {"c", 7}, {"q", 3}, {"steps", 6}},
     .tolerance = absolute(rollout_bound(32, 6) * 0x1p-53),
     .optional = "bias_ih controls weight_controls weight_latent",
     .setup = rollout<double>},
    {.name = "planned inputs, a drawn category fed back",
     .sizes = {{"...", 3}, {"m", 5}, {"n", 33}, {"k", 5}, {"g", 99}, {"c", 8}, {"q", 1}, {"steps", 7}},
     .tolerance = absolute(rollout_bound(47, 7) * 0x1p-53),
     .optional = "bias_hh controls weight_controls weight_latent last",
     .setup = sampled<double>},
    {.name = "planned inputs, drawn categories, f32",
     .sizes = {{"...", 2}, {"m", 3}, {"n", 20}, {"k", 4}, {"g", 60}, {"c", 20}, {"q", 2}, {"steps", 6}},
     .dtype = DType::f32,
     .tolerance = absolute(rollout_bound(46, 6) * 0x1p-24),
     .optional = "controls weight_controls",
     .setup = sampled<float>},
    {.name = "a latent fed back, reset after, f32",
     .sizes = {{"...", 1}, {"m", 2}, {"n", 65}, {"k", 4}, {"g", 195}, {"c", 32}, {"steps", 4}},
     .dtype = DType::f32,
     .tolerance = absolute(rollout_bound(101, 4) * 0x1p-24),
     .optional = "weight_latent",
     .setup = [](Rollout& a) { rollout<float>(a), a.reset = GruReset::after; }},
    {.name = "31 plans with planned inputs, f32",
     .sizes = {{"...", 31}, {"m", 2}, {"n", 18}, {"k", 4}, {"g", 54}, {"c", 7}, {"q", 2}, {"steps", 5}},
     .dtype = DType::f32,
     .tolerance = absolute(rollout_bound(40, 5) * 0x1p-24),
     .optional = "bias_ih bias_hh controls weight_controls last",
     .setup = rollout<float>},
    {.name = "9 plans, reset after, f32",
     .sizes = {{"...", 9}, {"m", 2}, {"n", 11}, {"k", 4}, {"g", 33}, {"c", 0}, {"q", 1}, {"steps", 5}},
     .dtype = DType::f32,
     .tolerance = absolute(rollout_bound(26, 5) * 0x1p-24),
     .optional = "bias_hh controls weight_controls",
     .setup = [](Rollout& a) { rollout<float>(a), a.reset = GruReset::after; }},
    {.name = "50 plans of 70 units, f32",
     .sizes = {{"...", 50}, {"m", 3}, {"n", 70}, {"k", 4}, {"g", 210}, {"c", 70}, {"q", 8}, {"steps", 4}},
     .dtype = DType::f32,
     .tolerance = absolute(rollout_bound(148, 4) * 0x1p-24),
     .optional = "bias_ih bias_hh controls weight_controls",
     .setup = rollout<float>},
    {.name = "5 plans of 256 units, reset after, f32",
     .sizes = {{"...", 5}, {"m", 1}, {"n", 256}, {"k", 4}, {"g", 768}, {"c", 40}, {"steps", 3}},
     .dtype = DType::f32,
     .tolerance = absolute(rollout_bound(296, 3) * 0x1p-24),
     .optional = "bias_ih bias_hh last",
     .setup = [](Rollout& a) { rollout<float>(a), a.reset = GruReset::after; }},
    {.name = "64 plans, 50 steps of 5 members of 256 units, f32",
     .sizes = {{"...", 64}, {"m", 5}, {"n", 256}, {"k", 64}, {"g", 768}, {"c", 256}, {"q", 1}, {"steps", 50}},
     .dtype = DType::f32,
     .optional = "bias_ih controls weight_controls",
     .benchmark_only = true,
     .setup = rollout<float>},
    {.name = "10 steps of 5 members of 256 units, f32",
     .sizes = {{"...", 1}, {"m", 5}, {"n", 256}, {"k", 64}, {"g", 768}, {"c", 256}, {"steps", 10}},
     .dtype = DType::f32,
     .optional = "bias_ih",
     .benchmark_only = true,
     .setup = rollout<float>},
    {.name = "100 steps of 5 members of 256 units, f32",
     .sizes = {{"...", 1}, {"m", 5}, {"n", 256}, {"k", 64}, {"g", 768}, {"c", 256}, {"steps", 100}},
     .dtype = DType::f32,
     .optional = "bias_ih",
     .benchmark_only = true,
     .setup = rollout<float>},
    {.name = "50 steps of one member of 256 units, f32",
     .sizes = {{"...", 1}, {"m", 1}, {"n", 256}, {"k", 64}, {"g", 768}, {"c", 256}, {"steps", 50}},
     .dtype = DType::f32,
     .optional = "bias_ih",
     .benchmark_only = true,
     .setup = rollout<float>},
    {.name = "50 steps of 10 members of 256 units, f32",
     .sizes = {{"...", 1}, {"m", 10}, {"n", 256}, {"k", 64}, {"g", 768}, {"c", 256}, {"steps", 50}},
     .dtype = DType::f32,
     .optional = "bias_ih",
     .benchmark_only = true,
     .setup = rollout<float>},
    {.name = "50 steps of 5 members of 256 units, f32",
     .sizes = {{"...", 1}, {"m", 5}, {"n", 256}, {"k", 64}, {"g", 768}, {"c", 256}, {"steps", 50}},
     .dtype = DType::f32,
     .optional = "bias_ih",
     .benchmark_only = true,
     .setup = rollout<float>},
    {.name = "50 steps of 5 members of 512 units, f32",
     .sizes = {{"...", 1}, {"m", 5}, {"n", 512}, {"k", 64}, {"g", 1536}, {"c", 256}, {"steps", 50}},
     .dtype = DType::f32,
     .optional = "bias_ih",
     .benchmark_only = true,
     .setup = rollout<float>},
    {.name = "50 steps of 5 members of 1024 units, f32",
     .sizes = {{"...", 1}, {"m", 5}, {"n", 1024}, {"k", 64}, {"g", 3072}, {"c", 256}, {"steps", 50}},
     .dtype = DType::f32,
     .optional = "bias_ih",
     .benchmark_only = true,
     .setup = rollout<float>},
};

constinit const Definition<Rollout> rollout_definition{
    {.name = "rssm_rollout",
     .summary = "losses L_(t+1) = exp(a . h + b . softmax h) of an ensemble of GRUs that run on their own "
                "predictions and on planned inputs",
     .source = "Hafner et al. 2019; Cho et al. 2014",
     .matrix_products = true,
     .in_place = true},
    {.check = check_rollout, .flops = rollout_flops, .cases = rollout_cases}};

}  // namespace

constinit const Op<Forward> gru_forward{forward_definition};
constinit const Op<Rollout> rssm_rollout{rollout_definition};
extern constinit const Impl<Forward> gru_forward_cpu{
    {.launch =
         [](const Forward& a, Arena arena, Stream& s, int) {
           visit<double, float, Half, BFloat16>(
               a.h.dtype, [&]<class T> { forward_by_steps<T>(a, arena, s, CellSteps{{s}}); });
         },
     .lay = [](Arena& arena, const Forward& a,
               const Site& site) { ForwardSteps(arena, a).lay(arena, site); }}};
extern constinit const Impl<Rollout> rssm_rollout_cpu{
    {.launch =
         [](const Rollout& a, Arena arena, Stream& s, int) {
           visit<double, float>(
               a.h.dtype, [&]<class T> { rollout_by_steps<T>(a, arena, s, CellSteps{{s}}, CpuTeams{s}); });
         },
     .lay = [](Arena& arena, const Rollout& a,
               const Site& site) { RolloutSteps(arena, a).lay(arena, site); }}};

}  // namespace kolmo
