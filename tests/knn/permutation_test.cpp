#include "kolmo/knn/permutation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace kolmo {
namespace {

TEST(Permutation, IsABijection) {
  for (const std::uint32_t n : {1u, 2u, 3u, 100u, 255u, 256u, 257u, 5000u}) {
    const Permutation p(n, 3, 4, 5);
    std::vector<int> seen(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      ASSERT_LT(p(i), n);
      ASSERT_EQ(p.inverse(p(i)), i);
      ++seen[p(i)];
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), std::ptrdiff_t(n));
  }
}

// The test is chi-squared over all n! orders. |z| < 5 would fail by chance once in about two million runs;
// the seeds are fixed.
TEST(Permutation, ReachesEveryOrderEquallyOften) {
  for (const std::uint32_t n : {3u, 4u, 5u, 6u}) {
    constexpr int runs = 72000;
    std::map<std::uint32_t, int> orders;
    for (int s = 1; s <= runs; ++s) {
      const Permutation p(n, 7, 3, std::uint64_t(s));
      std::uint32_t code = 0;
      for (std::uint32_t i = 0; i < n; ++i) code = code * n + p(i);
      ++orders[code];
    }
    const double all = std::tgamma(n + 1.0), each = runs / all;
    double chi = (all - double(orders.size())) * each;
    for (const auto& [code, count] : orders) chi += (count - each) * (count - each) / each;
    EXPECT_LT(std::abs(chi - (all - 1)) / std::sqrt(2 * (all - 1)), 5) << n;
  }
}

// The rank correlation of i and p(i) has mean 0 and variance 1/(n-1).
TEST(Permutation, LeavesNoTrendBehind) {
  constexpr std::uint32_t n = 500;
  constexpr int runs = 4000;
  double sum = 0, squares = 0;
  for (int s = 1; s <= runs; ++s) {
    const Permutation p(n, 21, 9, std::uint64_t(s));
    double r = 0;
    for (std::uint32_t i = 0; i < n; ++i) r += (i - (n - 1) / 2.0) * (p(i) - (n - 1) / 2.0);
    r /= n * (double(n) * n - 1) / 12;
    sum += r, squares += r * r;
  }
  EXPECT_LT(std::abs(sum / runs) * std::sqrt(double(runs) * (n - 1)), 5);
  EXPECT_LT(std::abs(squares / runs * (n - 1) - 1) / std::sqrt(2.0 / runs), 5);
}

}  // namespace
}  // namespace kolmo
