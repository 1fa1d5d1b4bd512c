#include "kolmo/base/log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kolmo/base/entropy.hpp"
#include "kolmo/base/philox.hpp"

namespace kolmo {
namespace {

/// Checks that log_exact errs by at most `ulp` of the result, or by 2^-56 near 1.
void expect_close(double x) {
  const long double want = std::log(static_cast<long double>(x)), error = std::abs(log_exact(x) - want);
  const double ulp = std::nexttoward(double(std::abs(want)), HUGE_VALL) - double(std::abs(want));
  EXPECT_LE(double(error), std::max(0.75 * ulp, std::abs(want) < 0.125L ? 0x1p-56 : 0)) << x;
}

TEST(Log, OfNumbersOfAnySize) {
  const Philox philox(1);
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const auto words = philox(i, 0);
    const double u = 1 + uniform53(words.w[0], words.w[1]);
    expect_close(u), expect_close(u / 2);
    expect_close(std::ldexp(u, int(words.w[2] % 2040) - 1060));
    expect_close(1 + std::ldexp(u - 1.5, -int(words.w[3] % 50)));
  }
}

TEST(Log, AtTheBordersOfIntervals) {
  for (int i = 0; i <= 16; ++i) {
    const double x = i < 10 ? 0.703125 + i / 32.0 : 1 + (2 * i - 19) / 32.0;
    expect_close(x), expect_close(std::nextafter(x, 0)), expect_close(std::nextafter(x, 2));
  }
}

TEST(XLogX, OfSmallCountsIsRounded) {
  for (int n = 1; n < 70; ++n) {
    const double want = double(n * std::log(static_cast<long double>(n)));
    EXPECT_NEAR(x_log_x(n), want, n < 64 ? 0 : 1e-15 * want) << n;
    const double between = n - 0.5, of_between = between * std::log(between);
    EXPECT_NEAR(x_log_x(between), of_between, 1e-15 * std::abs(of_between)) << between;
  }
  EXPECT_EQ(x_log_x(0), 0);
  EXPECT_EQ(x_log_x(HUGE_VAL), HUGE_VAL);
  EXPECT_TRUE(std::isnan(x_log_x(-1)));
  EXPECT_TRUE(std::isnan(x_log_x(NAN)));
}

TEST(DivergenceTerm, OfNumbersOfAnySize) {
  const double some[] = {0x1p-1074, 1e-300, 1e-200, 0.3, 1, 1e200, 1e300};
  for (const double p : some)
    for (const double q : some) {
      const long double want =
          p * (std::log(static_cast<long double>(p)) - std::log(static_cast<long double>(q)));
      EXPECT_NEAR(divergence_term(p, q), double(want), 1e-15 * std::abs(double(want))) << p << ' ' << q;
    }
}

}  // namespace
}  // namespace kolmo
