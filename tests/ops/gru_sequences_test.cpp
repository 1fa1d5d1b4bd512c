// Tests states that fill the registers of a cluster, and plans that fill its tiles, which the cases of gru_forward and rssm_rollout are
// too small for.
#include "kolmo/ops/recurrent/gru_sequences/gru_sequences.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kolmo/op/host_call.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {

/// Returns numbers in (-scale, scale) in no order.
std::vector<float> numbers(std::int64_t count, double scale, double phase) {
  std::vector<float> v;
  for (std::int64_t i = 0; i < count; ++i) v.push_back(float(scale * std::sin(double(i) * 12.9898 + phase)));
  return v;
}

struct Sequence {
  std::int64_t n, k = 24, steps = 7;
  GruReset reset;
  std::vector<float> x = numbers(2 * steps * k, 1, 1), h = numbers(2 * n, 1, 2),
                     in = numbers(3 * n * k, 1 / std::sqrt(double(k)), 3),
                     hidden = numbers(3 * n * n, 1 / std::sqrt(double(n)), 4), bias = numbers(3 * n, 0.5, 5);

  /// Returns all states of two sequences.
  std::vector<float> on(Device device, int variant = -1) {
    std::vector<float> states(std::size_t(2 * steps * n));
    Stream s(device);
    call_on_host(gru_forward,
                 {.x = tensor(x.data(), {2, steps, k}),
                  .h = tensor(h.data(), {2, n}),
                  .weight_ih = tensor(in.data(), {3 * n, k}),
                  .weight_hh = tensor(hidden.data(), {3 * n, n}),
                  .bias_hh = tensor(bias.data(), {3 * n}),
                  .states = tensor(states.data(), {2, steps, n}),
                  .reset = reset},
                 s, {.variant = variant});
    s.synchronize();
    return states;
  }
};

TEST(GruSequences, OfManyUnitsAgreeOnCpuAndGpu) {
  const Device device{DeviceKind::cuda};
  if (!available(device)) GTEST_SKIP() << "no GPU";
  for (const std::int64_t n : {200, 256, 257, 300, 512, 600})
    for (const GruReset reset : {GruReset::after, GruReset::before}) {
      Sequence sequence{.n = n, .reset = reset};
      // Sums of n terms near 1 and of 24 products err by less than 2^-15 in each of 7 steps, and each step
      // halves the error of the step before.
      EXPECT_THAT(sequence.on(device),
                  testing::Pointwise(testing::FloatNear(1e-4F), sequence.on({DeviceKind::cpu})))
          << n << " units";
    }
}

// With 2 ranks of ceil(n / 2) = m units, a block holds 2 (32 + 12 m n + 4 (3 n + 16 m + 48)) bytes of floats, padded to 16: 65,440 for
// 70 units and 68,128 for 71. Every GPU has 65,536.
TEST(GruSequences, BeyondTheSharedMemoryOfABlockAnotherVariantRunsAndTheOneAskedForIsRefused) {
  const Device device{DeviceKind::simt};
  if (!available(device)) GTEST_SKIP() << "no emulated GPU";
  const int in_block = entry_of(gru_forward).find_variant(DeviceKind::simt, "weights in a block");
  ASSERT_GE(in_block, 0);
  for (const GruReset reset : {GruReset::after, GruReset::before}) {
    Sequence fits{.n = 70, .reset = reset}, too_large{.n = 71, .reset = reset};
    EXPECT_EQ(fits.on(device, in_block), fits.on(device));
    EXPECT_THAT(too_large.on(device),
                testing::Pointwise(testing::FloatNear(1e-4F), too_large.on({DeviceKind::cpu})));
    try {
      too_large.on(device, in_block);
      FAIL() << "71 units do not fit";
    } catch (const InvalidArgument& e) {
      EXPECT_STREQ(
          e.what(),
          "gru_forward: variant 'weights in a block' does not fit these arguments on simt; what fits: "
          "step by step");
    }
  }
}

/// Rollouts of plans with a planned input.
struct Plans {
  std::int64_t plans, n, steps, members = 2, c = n;
  GruReset reset;
  std::vector<float> features = numbers(plans * 3, 1, 1), h = numbers(plans * members * n, 1, 2),
                     in = numbers(members * 3 * n * 3, 0.5, 3),
                     hidden = numbers(members * 3 * n * n, 0.5 / std::sqrt(double(n)), 4),
                     bias = numbers(members * 3 * n, 0.5, 5), head = numbers(members * n, 1 / double(n), 6),
                     of_category = numbers(members * c, 0.5, 7), controls = numbers(plans * steps, 1, 8),
                     of_controls = numbers(members * 3 * n, 0.5, 9);

  /// Returns the losses, [plan][member][step].
  template <class T>
  std::vector<double> on(Device device, int variant = -1) const {
    const auto as = [](const std::vector<float>& v) { return std::vector<T>(v.begin(), v.end()); };
    std::vector<T> x = as(features), state = as(h), w = as(in), v = as(hidden), b = as(bias), a = as(head),
                   s = as(of_category), planned = as(controls), of_planned = as(of_controls);
    const std::size_t rows = std::size_t(plans * members), all = rows * std::size_t(steps);
    std::vector<T> loss(all), rest(3 * all + 2 * rows + 2 * std::size_t(plans * steps));
    T* at = rest.data();
    const auto take = [&](std::int64_t count) { return std::exchange(at, at + count); };
    Stream stream(device);
    call_on_host(rssm_rollout,
                 {.features = tensor(x.data(), {plans, 3}),
                  .h = tensor(state.data(), {plans, members, n}),
                  .weight_ih = tensor(w.data(), {members, 3 * n, 3}),
                  .weight_hh = tensor(v.data(), {members, 3 * n, n}),
                  .head_hidden = tensor(a.data(), {members, n}),
                  .head_stochastic = tensor(s.data(), {members, c}),
                  .bias_hh = tensor(b.data(), {members, 3 * n}),
                  .controls = tensor(planned.data(), {plans, steps, 1}),
                  .weight_controls = tensor(of_planned.data(), {members, 3 * n, 1}),
                  .loss = tensor(loss.data(), {plans, members, steps}),
                  .step_deltas = tensor(take(plans * members * steps), {plans, members, steps}),
                  .hidden_norms = tensor(take(plans * members * steps), {plans, members, steps}),
                  .entropy = tensor(take(plans * members * steps), {plans, members, steps}),
                  .variance = tensor(take(plans * members), {plans, members}),
                  .smoothness = tensor(take(plans * members), {plans, members}),
                  .mean = tensor(take(plans * steps), {plans, steps}),
                  .spread = tensor(take(plans * steps), {plans, steps}),
                  .steps = steps,
                  .reset = reset},
                 stream, {.variant = variant});
    stream.synchronize();
    return {loss.begin(), loss.end()};
  }
};

// Losses lie between e^-2 and e^2. Products in two f16 err by less than 2^-20 of their terms, of which a state, being an average of
// tanh and of the state before, keeps less than the limit, also after 50 steps.
TEST(GruSequences, PlansSideBySideAgreeWithDoubleOnTheCpu) {
  for (const DeviceKind kind : {DeviceKind::simt, DeviceKind::cuda}) {
    if (!available({kind})) continue;
    const bool emulated = kind == DeviceKind::simt;
    for (const std::int64_t n :
         emulated ? std::vector<std::int64_t>{1, 29, 32} : std::vector<std::int64_t>{32, 33, 130, 256})
      for (const GruReset reset : {GruReset::after, GruReset::before}) {
        const Plans plans{.plans = emulated ? 26 : 70, .n = n, .steps = emulated ? 6 : 50, .reset = reset};
        EXPECT_THAT(plans.on<float>({kind}),
                    testing::Pointwise(testing::DoubleNear(1e-5), plans.on<double>({DeviceKind::cpu})))
            << n << " units";
      }
  }
}

// Weights and states are scaled for f16 by powers of two, rows of weights and plans each by their own.
TEST(GruSequences, FactorsOfPlansSideBySideMayHaveAnyMagnitude) {
  for (const DeviceKind kind : {DeviceKind::simt, DeviceKind::cuda}) {
    if (!available({kind})) continue;
    for (const GruReset reset : {GruReset::after, GruReset::before})
      for (const int power : {4, 20, 90}) {
        Plans plans{.plans = 12, .n = 20, .steps = 6, .c = 0, .reset = reset};
        for (float& w : plans.hidden) w = std::ldexp(w, -power);
        for (float& a : plans.head) a = std::ldexp(a, -power);
        for (std::size_t i = 0; i < std::size_t(plans.members * plans.n); ++i)
          plans.h[3 * std::size_t(plans.members * plans.n) + i] =
              std::ldexp(plans.h[3 * std::size_t(plans.members * plans.n) + i], power);
        EXPECT_THAT(plans.on<float>({kind}),
                    testing::Pointwise(testing::DoubleNear(1e-5), plans.on<double>({DeviceKind::cpu})))
            << "power " << power;
      }
  }
}

TEST(GruSequences, AStateThatIsNotFiniteChangesNoOtherPlan) {
  const Device device{DeviceKind::simt};
  if (!available(device)) GTEST_SKIP() << "no emulated GPU";
  Plans plans{.plans = 11, .n = 20, .steps = 3, .reset = GruReset::before};
  const std::vector<double> before = plans.on<float>(device);
  plans.h[4 * 2 * 20 + 7] = std::numeric_limits<float>::infinity();
  const std::vector<double> after = plans.on<float>(device);
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (i / 3 == 4 * 2) {
      EXPECT_TRUE(std::isnan(after[i])) << i;
    } else {
      EXPECT_EQ(after[i], before[i]) << i;
    }
  }
}

}  // namespace
}  // namespace kolmo
