// Tests states that fill the registers of a cluster, which the cases of gru_forward and rssm_rollout are too
// small for.
#include "kolmo/ops/recurrent/gru_sequences/gru_sequences.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
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

}  // namespace
}  // namespace kolmo
