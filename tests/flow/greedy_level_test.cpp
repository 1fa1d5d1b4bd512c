#include <gtest/gtest.h>

#include <cmath>

#include "tests/flow/greedy_series.hpp"

// What greedy networks claim where there is nothing to find, and beside true links, over many simulated networks.
namespace kolmo {
namespace {

using namespace testing_flow;

constexpr int networks = 200;

/// Series with the coefficient `own` of their own last value, of which the first `chained` drive the next.
Series system_of(std::uint64_t seed, std::size_t variables, double own, std::size_t chained) {
  constexpr std::size_t rows = 300, before = 100;
  std::vector<std::vector<double>> x;
  for (std::size_t v = 0; v < variables; ++v) {
    x.push_back(normals(seed, std::int64_t(v), rows + before));
    for (std::size_t t = 1; t < x[v].size(); ++t) {
      x[v][t] += own * x[v][t - 1];
      if (v > 0 && v <= chained) x[v][t] += 0.6 * x[v - 1][t - 1];
    }
  }
  for (auto& column : x) column.erase(column.begin(), column.begin() + before);
  return series_of(x);
}

struct Claims {
  double targets = 0;   // share of targets without a source whose first p is at most .05
  double networks = 0;  // share of networks with a false link
  double false_share = 0,
         found = 0;  // means over networks: of claimed links that are false; of true links that are found
};

Claims claims(double own, std::size_t chained, Correction correction = Correction::bh) {
  constexpr std::int32_t variables = 4;
  Claims all;
  double without = 0;
  for (int n = 0; n < networks; ++n) {
    const Series series = system_of(std::uint64_t(100 + n), variables, own, chained);
    NetworkOptions o = greedy_options(variables, 2, 99);
    o.estimator.estimator = Estimator::gaussian, o.estimator.seed = std::uint64_t(n),
    o.correction = correction;
    Stream stream({}, 1);
    const Network found = infer_network(series, o, stream, nullptr, nullptr);
    double wrong = 0, right = 0;
    for (const LinkResult& l : found.links) {
      const bool is_true = l.target == l.source + 1 && std::size_t(l.target) <= chained;
      if (l.significant) (is_true ? right : wrong) += 1;
    }
    for (const TargetSelection& t : found.selections) {
      if (t.target > 0 && std::size_t(t.target) <= chained) continue;
      ++without, all.targets += t.sources[0].first_p <= 0.05;
    }
    all.networks += (wrong > 0) / double(networks);
    all.false_share += wrong / std::max(wrong + right, 1.0) / networks;
    if (chained) all.found += right / double(chained) / networks;
  }
  all.targets /= without;
  return all;
}

/// Three standard deviations of a share of n.
double three(double share, double n) { return 3 * std::sqrt(share * (1 - share) / n); }

TEST(GreedyLevel, NoMoreTargetsAndNetworksThanTheLevelGetASourceWhereThereIsNone) {
  for (const double own : {0.0, 0.8}) {
    const Claims c = claims(own, 0);
    EXPECT_LE(c.targets, 0.05 + three(0.05, 4 * networks)) << own;
    EXPECT_GE(c.targets, 0.02) << "the test is not idle";
    EXPECT_LE(c.networks, 0.05 + three(0.05, networks)) << own;
  }
}

TEST(GreedyLevel, TheShareOfFalseLinksBesideTrueOnesIsBelowTheLevel) {
  for (const double own : {0.0, 0.8}) {
    const Claims c = claims(own, 2);
    EXPECT_LE(c.false_share, 0.05 + three(0.05, networks)) << own;
    EXPECT_GE(c.found, 0.9) << own;
  }
  EXPECT_GT(claims(0, 0, Correction::none).networks, 0.1) << "without a correction each target has the level";
}

}  // namespace
}  // namespace kolmo
