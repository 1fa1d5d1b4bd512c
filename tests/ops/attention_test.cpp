// What the cases of attention cannot show: addresses beyond 2^31, and the memory of long sequences.
#include "kolmo/ops/nn/attention/attention.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kolmo/op/host_call.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/ops/nn/attention/attention_call.hpp"

namespace kolmo {
namespace {

/// Makes a call without memory.
AttentionArgs call_of(std::int64_t batch, std::int64_t heads, std::int64_t groups, std::int64_t s,
                      std::int64_t t, std::int64_t d, HeadLayout layout, DType dtype) {
  const auto shape = [&](std::int64_t h, std::int64_t n) {
    const bool first = layout == HeadLayout::heads_first;
    return tensor(nullptr, dtype, std::array{batch, first ? h : n, first ? n : h, d});
  };
  return {.q = shape(heads, s),
          .k = shape(groups, t),
          .v = shape(groups, t),
          .y = shape(heads, s),
          .layout = layout};
}

TEST(Attention, AddressesGoBeyond31Bits) {
  for (const HeadLayout layout : {HeadLayout::heads_first, HeadLayout::heads_last}) {
    AttentionArgs a = call_of(32, 32, 8, 65536, 65536, 256, layout, DType::f32);
    a.mask = tensor(nullptr, DType::u8, std::array<std::int64_t, 3>{32, 65536, 65536});
    const AttentionCall<float> c(a);
    ASSERT_GT(a.k.size(), std::int64_t(1) << 31);
    EXPECT_EQ(c.groups, 32 * 8);
    EXPECT_EQ(c.rows, 4 * 65536);
    EXPECT_EQ(c.query_at(c.groups - 1, c.rows - 1) + 256, a.q.size());
    EXPECT_EQ(c.key_at(c.groups - 1, c.t - 1) + 256, a.k.size());
    EXPECT_EQ(31 * c.of_batch + 65535 * c.of_row + 65536, a.mask.size());
    EXPECT_EQ(c.pairs(), 65536.0 * 65536.0);
  }
}

TEST(Attention, CausalPairsAreCounted) {
  for (const Causal causal : {Causal::none, Causal::upper_left, Causal::lower_right})
    for (const std::int64_t s : {1, 2, 5, 9})
      for (const std::int64_t t : {1, 3, 5, 12}) {
        AttentionArgs a = call_of(1, 1, 1, s, t, 1, HeadLayout::heads_first, DType::f64);
        a.causal = causal;
        double pairs = 0;
        for (std::int64_t i = 0; i < s; ++i)
          for (std::int64_t j = 0; j < t; ++j)
            pairs += causal == Causal::none || (causal == Causal::upper_left ? j <= i : j <= i + t - s);
        EXPECT_EQ(AttentionMask(a).pairs(), pairs) << s << " x " << t;
      }
}

TEST(Attention, NeverHoldsTheScoresOfLongSequences) {
  const OpEntry& entry = find_op("attention");
  for (const DType dtype : {DType::f32, DType::f16})
    for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::simt}) {
      if (!entry.impl(kind)) continue;
      const AttentionArgs a = call_of(1, 16, 16, 65536, 65536, 128, HeadLayout::heads_first, dtype);
      const int row = entry.default_variant(&a, kind);
      ASSERT_GE(row, 0);
      EXPECT_FALSE(entry.variants(kind)[std::size_t(row)].naive);
      EXPECT_LT(entry.impl(kind)->workspace(&a, {{kind, 0}, row, 4}), std::size_t(16) << 20);
    }
}

template <class T>
void expect_nan_in_its_row(Device device) {
  constexpr std::int64_t s = 3, t = 40, d = 8;
  std::vector<T> q(s * d, T(1.0f)), k(t * d, T(0.5f)), v(t * d, T(2.0f)), y(s * d);
  q[d + 3] = T(NAN);
  Stream stream(device);
  attention({.q = tensor(q.data(), {1, s, d}, device),
             .k = tensor(k.data(), {1, t, d}, device),
             .v = tensor(v.data(), {1, t, d}, device),
             .y = tensor(y.data(), {1, s, d}, device)},
            stream);
  stream.synchronize();
  for (std::int64_t i = 0; i < s * d; ++i)
    EXPECT_EQ(std::isnan(double(float(y[std::size_t(i)]))), i / d == 1)
        << to_string(device) << ", element " << i;
}

/// Returns numbers in (-scale, scale) in no order.
std::vector<Half> numbers(std::int64_t count, double scale, double phase) {
  std::vector<Half> v;
  for (std::int64_t i = 0; i < count; ++i)
    v.emplace_back(float(scale * std::sin(double(i) * 12.9898 + phase)));
  return v;
}

struct Sizes {
  std::int64_t batch, heads, groups, s, t;
};

/// Returns the result. Each of its elements is a weighted mean of values in (-1, 1).
std::vector<float> result_on(Device device, const Sizes& n, std::int64_t d, HeadLayout layout,
                             Causal causal) {
  auto q = numbers(n.batch * n.heads * n.s * d, 2, 1), k = numbers(n.batch * n.groups * n.t * d, 2, 2),
       v = numbers(n.batch * n.groups * n.t * d, 1, 3), y = q;
  const auto of = [&](std::vector<Half>& data, std::int64_t h, std::int64_t rows) {
    const bool first = layout == HeadLayout::heads_first;
    return tensor(data.data(), {n.batch, first ? h : rows, first ? rows : h, d});
  };
  Stream stream(device);
  call_on_host(attention,
               {.q = of(q, n.heads, n.s),
                .k = of(k, n.groups, n.t),
                .v = of(v, n.groups, n.t),
                .y = of(y, n.heads, n.s),
                .causal = causal,
                .layout = layout},
               stream);
  stream.synchronize();
  return {y.begin(), y.end()};
}

TEST(Attention, OfManyQueriesAndKeysAgreesOnCpuAndGpu) {
  const Device device{DeviceKind::cuda};
  if (!available(device)) GTEST_SKIP() << "no GPU";
  constexpr Sizes equal{2, 16, 16, 1100, 1000}, grouped{1, 6, 2, 300, 391}, few{3, 2, 2, 129, 1},
      more{1, 2, 2, 193, 130};
  for (const Sizes& n : {equal, grouped, few, more})
    for (const std::int64_t d : {64, 128})
      for (const HeadLayout layout : {HeadLayout::heads_first, HeadLayout::heads_last})
        for (const Causal causal : {Causal::none, Causal::upper_left, Causal::lower_right})
          // Weights and results are rounded to 11 bits.
          EXPECT_THAT(
              result_on(device, n, d, layout, causal),
              testing::Pointwise(testing::FloatNear(4 * 0x1p-11F), result_on({}, n, d, layout, causal)))
              << n.s << " x " << n.t << ", d " << d;
}

TEST(Attention, NaNStaysInItsRow) {
  for (const Device device : {Device{}, Device{DeviceKind::simt, 0}}) {
    if (!available(device)) continue;
    expect_nan_in_its_row<float>(device), expect_nan_in_its_row<Half>(device);
  }
}

TEST(Attention, OfFewQueriesNeedNotBeginAtMultiplesOf16Bytes) {
  const Device device{DeviceKind::simt, 0};
  if (!available(device)) GTEST_SKIP() << "no emulated GPU";
  constexpr std::int64_t s = 2, t = 600, d = 16;
  auto q = numbers(s * d + 1, 2, 1), k = numbers(t * d + 1, 2, 2), v = numbers(t * d + 1, 1, 3), y = q;
  const auto result = [&](std::size_t shift) {
    Stream stream(device);
    attention({.q = tensor(q.data() + shift, {1, s, d}, device),
               .k = tensor(k.data() + shift, {1, t, d}, device),
               .v = tensor(v.data() + shift, {1, t, d}, device),
               .y = tensor(y.data() + shift, {1, s, d}, device)},
              stream);
    stream.synchronize();
    return std::vector<float>(y.begin() + std::ptrdiff_t(shift), y.begin() + std::ptrdiff_t(shift) + s * d);
  };
  const std::vector<float> shifted = result(1);
  for (auto* x : {&q, &k, &v}) std::rotate(x->begin(), x->begin() + 1, x->end());
  EXPECT_THAT(result(0), testing::Pointwise(testing::FloatNear(4 * 0x1p-11F), shifted));
}

}  // namespace
}  // namespace kolmo
