#include "kolmo/flow/test/selection.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/base/philox.hpp"

namespace kolmo {
namespace {

TEST(Selection, DrawsAreReducedOverVariables) {
  const SurrogateRows rows{{1, 5, 3}, {2, 4, 3}};
  EXPECT_EQ(largest_of_draws(rows), (std::vector<double>{2, 5, 3}));
  EXPECT_EQ(smallest_of_draws(rows), (std::vector<double>{1, 4, 3}));
}

TEST(Selection, ATestEndsWhenItCannotBeSignificantAnyMore) {
  // Of 39 surrogates one may reach the value at .05: (1 + 1) / 40.
  std::vector<double> s(39, 0.0);
  s[3] = s[9] = 2;
  EXPECT_EQ(surrogates_needed(1, s, 39, 0.05, PValue::plus_one), 10u);
  EXPECT_EQ(surrogates_needed(1, std::span(s).first(9), 39, 0.05, PValue::plus_one), 0u) << "more are needed";
  EXPECT_EQ(surrogates_needed(3, s, 39, 0.05, PValue::plus_one), 39u);
  EXPECT_EQ(surrogates_needed(1, s, 40, 0.05, PValue::plain), 10u) << "2 / 40 is not below .05";
}

// Largest first: 9 against the largest of all three, 5 against that of the other two, 2 against its own.
TEST(Selection, StepDownComparesWithTheLargestOfThoseThatAreLeft) {
  const std::vector<double> observed{5, 9, 2};
  const SurrogateRows s{{1, 6, 0, 0}, {0, 0, 10, 0}, {0, 0, 0, 3}};
  const std::vector<double> p = step_down(observed, s, PValue::plain);
  EXPECT_EQ(p, (std::vector<double>{0.25, 0.25, 0.25}));
  EXPECT_EQ(step_down(observed, s, PValue::plus_one)[1], 2.0 / 5);
  // By rank 5 is compared with the second largest of each draw, none of which reaches it; p does not fall.
  EXPECT_EQ(by_rank(observed, s, PValue::plain), (std::vector<double>{0.25, 0.25, 0.25}));
  const SurrogateRows second{{1, 6, 0, 0}, {0, 0, 8, 0}, {0, 0, 0, 3}};
  EXPECT_EQ(by_rank(observed, second, PValue::plain), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(step_down(observed, second, PValue::plain), (std::vector<double>{0.25, 0, 0.25}));
}

TEST(Selection, StepDownOfAnalyticPValuesIsHolms) {
  const std::vector<double> p = step_down(std::vector<double>{0.04, 0.001, 0.5});
  EXPECT_NEAR(p[1], 1 - std::pow(0.999, 3), 1e-15);
  EXPECT_NEAR(p[0], 1 - std::pow(0.96, 2), 1e-15);
  EXPECT_NEAR(p[2], 0.5, 1e-15);
  EXPECT_EQ(step_down(std::vector<double>{0.3, 0.3})[1], step_down(std::vector<double>{0.3, 0.3})[0]);
}

/// The share of trials in which a variable that tells nothing is accepted at .05 beside strong ones.
double accepted(int strong,
                std::vector<double> (*test)(std::span<const double>, const SurrogateRows&, PValue)) {
  constexpr int trials = 2000, draws = 99;
  const Philox random(3);
  std::uint64_t at = 0;
  const auto uniform = [&] {
    const Philox::Words w = random(at++, 0);
    return uniform53(w.w[0], w.w[1]);
  };
  int found = 0;
  for (int t = 0; t < trials; ++t) {
    std::vector<double> observed(std::size_t(strong), 10.0);
    observed.push_back(uniform());
    SurrogateRows s(observed.size(), std::vector<double>(draws));
    for (std::vector<double>& row : s)
      for (double& v : row) v = uniform();
    found += test(observed, s, PValue::plus_one).back() <= 0.05;
  }
  return double(found) / trials;
}

// The test by ranks accepts it with the probability alpha^(1/m): .22 of 2 variables, .55 of 5.
TEST(Selection, StepDownHoldsItsLevelBesideStrongVariablesAndTheTestByRanksDoesNot) {
  const double binomial = 3 * std::sqrt(0.05 * 0.95 / 2000);
  for (const int strong : {1, 4}) EXPECT_NEAR(accepted(strong, step_down), 0.05, binomial);
  EXPECT_NEAR(accepted(1, by_rank), std::pow(0.05, 1.0 / 2), 0.03);
  EXPECT_NEAR(accepted(4, by_rank), std::pow(0.05, 1.0 / 5), 0.03);
}

}  // namespace
}  // namespace kolmo
