#include "kolmo/flow/test/sequential_test.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "kolmo/base/normal_quantile.hpp"
#include "kolmo/base/philox.hpp"

namespace kolmo {
namespace {

using testing::ElementsAre;

std::vector<std::int64_t> parts(StoppingRule rule) {
  std::vector<std::int64_t> all;
  for (SurrogateRange part = rule.first(); part.count; part = rule.after(part)) {
    all.push_back(part.first);
    all.push_back(part.count);
  }
  return all;
}

TEST(StoppingRule, PartsGrowByHalf) {
  EXPECT_THAT(parts({10, 400}), ElementsAre(0, 51, 51, 75, 126, 112, 238, 163));
  EXPECT_THAT(parts({2, 11}), ElementsAre(0, 11, 11, 1));
  EXPECT_THAT(parts({10, 50}), ElementsAre(0, 51)) << "one part, in which no test ends early";
  EXPECT_THAT(parts({0, 1000}), ElementsAre(0, 1001));
  EXPECT_THAT(parts({10, 0}), ElementsAre(0, 1));
}

// The second surrogate that reaches 5 is the fifth: p = 2 / 5.
TEST(SequentialTest, EndsAtItsLastExceedance) {
  const std::vector<double> values{1, 5, 2, 3, 7, 0, 9};
  for (std::size_t cut = 0; cut <= values.size(); ++cut) {
    SequentialTest test(5, {2, 100});
    const std::span<const double> all(values);
    test.take(all.first(cut), 100);
    EXPECT_EQ(test.open(), cut < 5);
    test.take(all.subspan(cut), 100);
    EXPECT_FALSE(test.open());
    EXPECT_EQ(test.state().exceedances, 1);
    EXPECT_EQ(test.state().surrogates, 4);
    EXPECT_DOUBLE_EQ(test.p_value(PValue::plus_one), 2.0 / 5);
    EXPECT_DOUBLE_EQ(test.describe().mean, (1 + 5 + 2 + 3) / 4.0);
  }
}

TEST(SequentialTest, EndsWhereThereAreNoMoreSurrogates) {
  SequentialTest test(5, {2, 100});
  test.take(std::vector<double>{1, 2, 3}, 7);
  EXPECT_TRUE(test.open());
  EXPECT_DOUBLE_EQ(test.p_value(PValue::plus_one), 1.0 / 4);
  test.take(std::vector<double>{1, 6, 3, 4}, 7);
  EXPECT_FALSE(test.open());
  EXPECT_DOUBLE_EQ(test.p_value(PValue::plus_one), 2.0 / 8);
}

TEST(SequentialTest, WithoutExceedancesTakesAll) {
  SequentialTest test(5, {0, 3});
  test.take(std::vector<double>{7, 8, 1}, 3);
  EXPECT_FALSE(test.open());
  EXPECT_DOUBLE_EQ(test.p_value(PValue::plus_one), 3.0 / 4);
  EXPECT_DOUBLE_EQ(test.p_value(PValue::plain), 2.0 / 3);
}

TEST(SequentialTest, ResumesWhereAnotherWas) {
  const std::vector<double> first{1, 6, 2}, next{3, 4, 8, 9};
  SequentialTest test(5, {3, 100}), again(5, {3, 100});
  test.take(first, 100);
  again.resume(test.state(), test.kept());
  test.take(next, 100), again.take(next, 100);
  EXPECT_EQ(again.p_value(PValue::plus_one), test.p_value(PValue::plus_one));
  EXPECT_EQ(again.describe().q95, test.describe().q95);
}

/// Tests of null hypotheses and of others, whose surrogates reach the observed value with the given probabilities.
struct SimulatedNetwork {
  std::vector<double> truth, p;
  double surrogates = 0;  // of a test, in the mean

  SimulatedNetwork(std::vector<double> probabilities, StoppingRule rule, bool together, std::uint64_t seed)
      : truth(std::move(probabilities)) {
    const std::size_t n = truth.size();
    std::vector<SequentialTest> tests;
    for (const double probability : truth) tests.emplace_back(-probability, rule);
    std::vector<bool> open(n, true);
    p.resize(n);
    for (SurrogateRange part = rule.first(); part.count; part = rule.after(part)) {
      for (std::size_t i = 0; i < n; ++i) {
        if (!open[i]) continue;
        std::vector<double> values;
        for (std::int64_t s = 0; s < part.surrogates(); ++s)
          values.push_back(-uniform_of(seed, i, std::uint64_t(part.first + s)));
        tests[i].take(values, rule.most);
        surrogates += double(part.surrogates()) / double(n);
        p[i] = tests[i].p_value(PValue::plus_one), open[i] = tests[i].open();
      }
      if (together && may_stop(p, open, Correction::bh, 0.05)) break;
    }
  }
  static double uniform_of(std::uint64_t seed, std::uint64_t test, std::uint64_t number) {
    const Philox::Words w = Philox(seed)(number, test);
    return uniform53(w.w[0], w.w[1]);
  }
};

// Besag and Clifford: P(p <= h / l) is exactly h / l for every l.
TEST(SequentialTest, IsExactUnderTheNullHypothesis) {
  constexpr std::size_t n = 40000;
  std::vector<double> uniform;
  for (std::size_t i = 0; i < n; ++i) uniform.push_back(SimulatedNetwork::uniform_of(7, i, 1));
  const SimulatedNetwork found(uniform, {10, 2000}, false, 8);
  for (const double l : {12.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0}) {
    const double a = 10 / l, sigma = std::sqrt(a * (1 - a) / double(n));
    const auto small =
        std::count_if(found.p.begin(), found.p.end(), [a](double p) { return p <= a * (1 + 1e-12); });
    EXPECT_NEAR(double(small) / double(n), a, 4 * sigma) << l;
  }
  for (const double a : {0.001, 0.003, 0.013, 0.05, 0.37}) {
    const double sigma = std::sqrt(a * (1 - a) / double(n));
    const auto small = std::count_if(found.p.begin(), found.p.end(), [a](double p) { return p <= a; });
    EXPECT_LE(double(small) / double(n), a + 4 * sigma) << a;
  }
}

// A network of 9,900 links, of which 3 % are weak: as in docs/surrogates.md. The power is that of the true p-values within
// 0.02, which 1,000 surrogates of each link would not have at all.
TEST(SequentialTest, NetworksHaveThePowerOfTheTruePValues) {
  constexpr std::size_t links = 9900, networks = 4;
  double power = 0, ideal = 0, surrogates = 0, false_share = 0, null_surrogates = 0;
  for (std::uint64_t seed = 0; seed < networks; ++seed) {
    std::vector<double> probabilities, null;
    for (std::size_t i = 0; i < links; ++i) {
      const double u = SimulatedNetwork::uniform_of(seed, i, 1 << 30), z = i % 33 == 0 ? 3.5 : 0;
      null.push_back(u);
      const double of_null = u < 0.5 ? two_sided_quantile(1 - 2 * u) : -two_sided_quantile(2 * u - 1);
      probabilities.push_back(0.5 * std::erfc((of_null + z) / std::sqrt(2)));
    }
    const auto accepted = [&](std::span<const double> p, bool true_ones) {
      const std::vector<double> q = adjust(p, Correction::bh);
      double count = 0;
      for (std::size_t i = 0; i < links; ++i) count += (i % 33 == 0) == true_ones && q[i] <= 0.05;
      return count;
    };
    const SimulatedNetwork found(probabilities, {10, 100000}, true, seed);
    const double right = accepted(found.p, true), wrong = accepted(found.p, false);
    power += right / (links / 33.0) / networks, surrogates += found.surrogates / networks;
    ideal += accepted(probabilities, true) / (links / 33.0) / networks;
    false_share += wrong / (right + wrong) / networks;
    null_surrogates += SimulatedNetwork(null, {10, 100000}, true, seed).surrogates / networks;
  }
  EXPECT_NEAR(power, ideal, 0.02);
  EXPECT_GT(power, 0.5);
  EXPECT_LE(surrogates, 750);
  EXPECT_LE(null_surrogates, 200);
  EXPECT_LE(false_share, 0.05 + 4 * std::sqrt(0.05 * 0.95 / (networks * 200.0)));
  RecordProperty("power", std::to_string(power));
  RecordProperty("surrogates", std::to_string(surrogates));
}

// Without the half, networks of null links would be found to have links too often.
TEST(SequentialTest, NullNetworksHoldTheirLevel) {
  constexpr int networks = 2000;
  for (const std::size_t links : {1u, 2u, 30u}) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < networks; ++seed) {
      std::vector<double> uniform;
      for (std::size_t i = 0; i < links; ++i)
        uniform.push_back(SimulatedNetwork::uniform_of(seed + 100, i, 1 << 30));
      const SimulatedNetwork network(uniform, {10, 100000}, true, seed);
      const std::vector<double> q = adjust(network.p, Correction::bh);
      found += std::any_of(q.begin(), q.end(), [](double v) { return v <= 0.05; });
    }
    EXPECT_LE(found, networks * 0.05 + 4 * std::sqrt(networks * 0.05 * 0.95)) << links;
  }
}

TEST(MayStop, AsksForHalfTheLevelOfOpenTestsOnly) {
  const std::vector<double> p{0.024, 0.5};
  EXPECT_FALSE(may_stop(p, {true, true}, Correction::none, 0.05));
  EXPECT_TRUE(may_stop(p, {true, false}, Correction::none, 0.05));
  EXPECT_FALSE(may_stop(p, {true, false}, Correction::bh, 0.05)) << "adjusted it is 0.048";
  EXPECT_TRUE(may_stop(p, {false, false}, Correction::bonferroni, 0.05));
}

}  // namespace
}  // namespace kolmo
