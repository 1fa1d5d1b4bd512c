// Counts of the GPU are those of the CPU for every variant, length and alignment: shares of several blocks, samples that are not
// counted, and counts that 16 bits do not hold.
#include "kolmo/ops/info/histogram_2d/histogram_2d.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kolmo/op/registry.hpp"

namespace kolmo {
namespace {

struct Problem {
  std::int64_t batch, n, bins_x, bins_y;
  OutsidePolicy outside = OutsidePolicy::drop;
  double max = 1;  ///< less: one bin has nearly all samples, if they are clamped
};

/// Counts of samples from the `skipped`-th on.
template <class T>
Histogram2dArgs arguments(std::vector<T>& x, std::vector<T>& y, std::vector<std::int64_t>& counts,
                          int skipped, const Problem& p, Device device) {
  Histogram2dArgs a{.x = tensor(x.data() + skipped, {p.batch, p.n}, device),
                    .y = tensor(y.data() + skipped, {p.batch, p.n}, device),
                    .counts = tensor(counts.data(), {p.batch, p.bins_x, p.bins_y}, device)};
  a.bins_x = p.bins_x, a.bins_y = p.bins_y, a.x_max = a.y_max = p.max, a.outside = p.outside;
  return a;
}

template <class T>
void expect_the_counts_of_the_cpu(const Problem& p) {
  std::vector<T> x(std::size_t(p.batch * p.n) + 1), y(x.size());
  std::mt19937 random(7);
  std::uniform_real_distribution<T> uniform(T(-0.01), T(1.01));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = i % 101 == 7 ? T(NAN) : i % 97 == 5 ? T(i % 2 ? INFINITY : -INFINITY) : uniform(random);
    y[i] = i % 13 == 1 ? T(i % 9) / 8 : uniform(random);  // on edges
  }
  const OpEntry& entry = entry_of(histogram_2d);
  const auto rows = entry.variants(DeviceKind::simt);
  Stream cpu, simt({DeviceKind::simt});
  for (int skipped = 0; skipped < 2; ++skipped) {
    std::vector<std::int64_t> want(std::size_t(p.batch * p.bins_x * p.bins_y)), got(want.size());
    histogram_2d(arguments(x, y, want, skipped, p, {}), cpu);
    const Histogram2dArgs a = arguments(x, y, got, skipped, p, simt.device());
    for (const int v : entry.fitting(&a, DeviceKind::simt)) {
      std::fill(got.begin(), got.end(), -1);
      histogram_2d(a, simt, {.variant = v});
      EXPECT_EQ(got, want) << p.batch << " of " << p.n << " samples, " << p.bins_x << " x " << p.bins_y
                           << " bins, from " << skipped << ", " << sizeof(T) << " bytes, "
                           << rows[std::size_t(v)].name;
    }
  }
}

class Histogram2d : public testing::TestWithParam<Problem> {};

TEST_P(Histogram2d, HasTheCountsOfTheCpuInEveryVariant) {
  if (!available({DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  expect_the_counts_of_the_cpu<double>(GetParam());
  expect_the_counts_of_the_cpu<float>(GetParam());
}

constexpr OutsidePolicy clamp = OutsidePolicy::clamp;
INSTANTIATE_TEST_SUITE_P(
    Shapes, Histogram2d,
    testing::Values(
        Problem{5, 0, 2, 2}, Problem{1, 1, 1, 1}, Problem{7, 3, 3, 5, clamp}, Problem{1, 511, 10, 10},
        Problem{3, 2049, 10, 10, clamp}, Problem{1, 70001, 10, 10}, Problem{3, 33333, 64, 64, clamp},
        Problem{150, 1000, 8, 8}, Problem{2, 20003, 110, 111},
        // Shares of 75000 samples, more than 16 bits count, nearly all in the last bin of a word and in the first.
        Problem{1, 300001, 300, 320, clamp, 1e-3}, Problem{1, 300001, 299, 319, clamp, 1e-3},
        Problem{1, 300001, 3, 5, clamp}));

}  // namespace
}  // namespace kolmo
