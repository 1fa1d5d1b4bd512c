#include "kolmo/topology/diagram_distance.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "kolmo/base/error.hpp"
#include "tests/paths.hpp"

namespace kolmo::topology {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double inf = HUGE_VAL;

TEST(DiagramDistance, ByHand) {
  for (const auto distance :
       {bottleneck_distance, +[](const Diagram&a, const Diagram&b) { return wasserstein_distance(a, b); }}) {
    EXPECT_EQ(distance({}, {}), 0);
    EXPECT_EQ(distance({{1, 1}, {5, 5}}, {}), 0);       // on the diagonal
    EXPECT_EQ(distance({{1, 4}}, {}), 1.5);             // to the diagonal
    EXPECT_EQ(distance({{1, 4}}, {{1.5, 4.25}}), 0.5);  // the larger difference
    EXPECT_EQ(distance({{0, 1}}, {{10, 11}}), distance({}, {}) + (distance == bottleneck_distance ? 0.5 : 1));
    EXPECT_EQ(distance({{0, inf}}, {{3, inf}}), 3);  // those that never die
    EXPECT_EQ(distance({{0, inf}}, {}), inf);
    EXPECT_EQ(distance({{0, inf}, {2, inf}}, {{2, inf}, {1, inf}}), 1);
    EXPECT_EQ(distance({{-inf, 2}, {-inf, inf}}, {{-inf, inf}, {-inf, 4}}), 2);
    EXPECT_EQ(distance({{-inf, inf}}, {{0, inf}}), inf);
  }
  EXPECT_EQ(bottleneck_distance({{0, 10}, {4, 6}}, {{1, 10}}), 1);
  EXPECT_EQ(wasserstein_distance({{0, 10}, {4, 6}}, {{1, 10}}), 2);
  EXPECT_DOUBLE_EQ(wasserstein_distance({{0, 10}, {4, 6}}, {{1, 10}}, 2), std::sqrt(2.));
  EXPECT_DOUBLE_EQ(wasserstein_distance({{0, 1e200}}, {}, 4), 5e199);
}

TEST(DiagramDistance, OfNumbersNearTheLargest) {
  for (const auto distance :
       {bottleneck_distance, +[](const Diagram&a, const Diagram&b) { return wasserstein_distance(a, b); },
        +[](const Diagram&a, const Diagram&b) { return wasserstein_distance(a, b, 3); }}) {
    EXPECT_DOUBLE_EQ(distance({{-1.7e308, 1.7e308}}, {}), 1.7e308);
    EXPECT_DOUBLE_EQ(distance({{-1e308, 1e308}}, {{-1e308, 0.9e308}}), 1e307);
    EXPECT_EQ(distance({{-1.7e308, inf}}, {{-1.7e308, inf}}), 0);
    EXPECT_EQ(distance({{-1.7e308, inf}}, {{1.7e308, inf}, {1, inf}}), inf);
    EXPECT_THAT(
        [&] {
          distance({{-1.7e308, inf}}, {{1.7e308, inf}});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("distance: is beyond the largest double; divide")));
    const double least = 5e-324;
    EXPECT_EQ(distance({{0, 4 * least}}, {}), 2 * least);
  }
  // The births are further apart than the largest double, and both intervals go to the diagonal.
  EXPECT_DOUBLE_EQ(bottleneck_distance({{-1e308, -0.8e308}}, {{1e308, 1.6e308}}), 0.3e308);
  EXPECT_DOUBLE_EQ(wasserstein_distance({{-1e308, -0.8e308}}, {{1e308, 1.6e308}}), 0.4e308);
  EXPECT_THAT(
      [] {
        wasserstein_distance({{-1e308, 1e308}, {-1e308, 1e308}}, {});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("is beyond the largest double")));
  EXPECT_DOUBLE_EQ(wasserstein_distance({{-1e308, 1e308}, {-1e308, 1e308}}, {}, 2), std::sqrt(2.) * 1e308);
  EXPECT_DOUBLE_EQ(wasserstein_distance({{0, 1000}}, {{0, 1000.125}}, 100), 0.125);  // 0.00025^100 vanishes
}

/// The smallest value over all matchings of few intervals.
double naive(const Diagram& a, const Diagram& b, double order) {
  std::vector<char> used(b.size());
  const auto join = [&](double x, double y) {
    return order == inf ? std::max(x, y) : x + std::pow(y, order);
  };
  const std::function<double(std::size_t, double)> best = [&](std::size_t i, double sum) {
    if (i == a.size()) {
      for (std::size_t j = 0; j < b.size(); ++j)
        if (!used[j]) sum = join(sum, b[j].persistence() / 2);
      return sum;
    }
    double least = best(i + 1, join(sum, a[i].persistence() / 2));
    for (std::size_t j = 0; j < b.size(); ++j) {
      if (used[j]) continue;
      used[j] = 1;
      const double c = std::max(std::fabs(a[i].birth - b[j].birth), std::fabs(a[i].death - b[j].death));
      least = std::min(least, best(i + 1, join(sum, c)));
      used[j] = 0;
    }
    return least;
  };
  return order == inf ? best(0, 0) : std::pow(best(0, 0), 1 / order);
}

Diagram diagram(std::mt19937& random, std::size_t n) {
  Diagram d;
  for (std::size_t i = 0; i < n; ++i) {
    const double birth = double(random() % 64) / 8;
    d.push_back({birth, birth + double(random() % 40) / 8});
  }
  return d;
}

TEST(DiagramDistance, IsTheSmallestOverAllMatchings) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const Diagram a = diagram(random, random() % 6), b = diagram(random, random() % 6);
    EXPECT_EQ(bottleneck_distance(a, b), naive(a, b, inf));
    EXPECT_EQ(bottleneck_distance(a, b), bottleneck_distance(b, a));
    for (const double order : {1., 2., 3.5})
      EXPECT_NEAR(wasserstein_distance(a, b, order), naive(a, b, order), 1e-13 * (1 + naive(a, b, 1)));
  }
}

TEST(DiagramDistance, EqualsGudhi) {
  std::ifstream file(source_dir() / "tests/topology/data/gudhi.json");
  const auto golden = nlohmann::json::parse(file);
  ASSERT_GE(golden.at("pairs").size(), 8u);
  for (const auto& p : golden.at("pairs")) {
    Diagram d[2];
    for (int k = 0; k < 2; ++k)
      for (const auto& [birth, death] : p.at(k ? "b" : "a").get<std::vector<std::pair<double, double>>>())
        d[k].push_back({birth, death < 0 ? inf : death});
    EXPECT_DOUBLE_EQ(bottleneck_distance(d[0], d[1]), p.at("bottleneck").get<double>());  // rounds otherwise
    for (const auto& [order, want] : p.at("wasserstein").get<std::map<std::string, double>>())
      EXPECT_NEAR(wasserstein_distance(d[0], d[1], std::stod(order)), want, 1e-12 * want);
  }
}

TEST(DiagramDistance, BadInputIsNamed) {
  const auto refused = [](const auto& call, const char* text) {
    EXPECT_THAT(call, ThrowsMessage<InvalidArgument>(HasSubstr(text)));
  };
  refused(
      [] {
        bottleneck_distance({{0, 1}, {2, 1}}, {});
      },
      "bottleneck_distance: a: interval 1 is from 2 to 1");
  refused([] { wasserstein_distance({}, {{0, std::nan("")}}); }, "wasserstein_distance: b: interval 0");
  refused([] { wasserstein_distance({}, {}, 0.5); }, "order is 0.5");
  refused([] { wasserstein_distance({}, {}, inf); }, "bottleneck");
}

}  // namespace
}  // namespace kolmo::topology
