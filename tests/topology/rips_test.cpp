#include "kolmo/topology/rips.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <random>

#include "kolmo/runtime/cpu/interrupt.hpp"
#include "kolmo/topology/windows.hpp"
#include "tests/paths.hpp"
#include "tests/topology/naive.hpp"

namespace kolmo::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

Distances of(std::vector<double> values, std::int64_t width) {
  return Distances::of_points({std::move(values), width}, Metric::euclidean, 1, "points");
}
/// Random points; with `levels` on a grid, where many distances are equal and points coincide.
std::vector<double> cloud(std::mt19937& random, std::size_t values, int levels = 0) {
  std::vector<double> x(values);
  for (double& v : x) v = levels ? double(random() % unsigned(levels)) : double(random()) * 0x1p-32;
  return x;
}
std::vector<double> circle(std::mt19937& random, int n) {
  std::vector<double> x;
  for (int i = 0; i < n; ++i) {
    const double angle = 2 * std::numbers::pi * i / n;
    for (const double v : {std::cos(angle), std::sin(angle)})
      x.push_back(v + 0.2 * double(random()) * 0x1p-32);
  }
  return x;
}
void expect_equal(const Diagrams& got, const Diagrams& want) {
  EXPECT_EQ(got.h0, want.h0);
  EXPECT_EQ(got.h1, want.h1);
}

TEST(Rips, FewPoints) {
  EXPECT_THAT(rips_persistence(of({3}, 1), {}).h0, ElementsAre(Interval{0, HUGE_VAL}));
  const Diagrams two = rips_persistence(of({3, 5}, 1), {});
  EXPECT_THAT(two.h0, ElementsAre(Interval{0, 2}, Interval{0, HUGE_VAL}));
  EXPECT_THAT(two.h1, IsEmpty());
  EXPECT_THAT(rips_persistence(of({1, 1, 1}, 1), {}).h0, ElementsAre(Interval{0, HUGE_VAL}));  // one place
}

TEST(Rips, ASquareIsOneLoopUntilItsDiagonal) {
  const auto square = of({0, 0, 0, 1, 1, 1, 1, 0}, 2);
  const Diagrams d = rips_persistence(square, {});
  EXPECT_THAT(d.h0, ElementsAre(Interval{0, 1}, Interval{0, 1}, Interval{0, 1}, Interval{0, HUGE_VAL}));
  EXPECT_THAT(d.h1, ElementsAre(Interval{1, std::sqrt(2.)}));
  EXPECT_EQ(d.threshold, std::sqrt(2.));
  EXPECT_THAT(rips_persistence(square, {.max_dimension = 0}).h1, IsEmpty());
  EXPECT_THAT(rips_persistence(square, {.threshold = 1.2}).h1, ElementsAre(Interval{1, HUGE_VAL}));
  EXPECT_EQ(rips_persistence(square, {.threshold = 0.5}).h0, Diagram(4, Interval{0, HUGE_VAL}));
  const auto most = Distances::of_points({{0, 0, 0, 1, 1, 1, 1, 0}, 2}, Metric::maximum, 1, "points");
  EXPECT_THAT(rips_persistence(most, {}).h1, IsEmpty());
}

TEST(Rips, ScalesWithTheCoordinates) {
  for (const double scale : {1e160, 1e300, 1e-160, 1e-200, 0x1p1022, 0x1p-1060}) {
    for (const Metric metric : {Metric::euclidean, Metric::maximum}) {
      const auto square = Distances::of_points({{0, 0, 0, scale, scale, scale, scale, 0, 0, 0}, 2}, metric, 1,
                                               "points");  // one point twice
      const Diagrams d = rips_persistence(square, {});
      EXPECT_THAT(d.h0, ElementsAre(Interval{0, scale}, Interval{0, scale}, Interval{0, scale},
                                    Interval{0, HUGE_VAL}));
      if (metric == Metric::maximum) continue;
      ASSERT_EQ(d.h1.size(), 1u);
      EXPECT_EQ(d.h1[0].birth, scale);
      EXPECT_NEAR(d.h1[0].death / scale, std::sqrt(2.), scale < 0x1p-1022 ? 1e-4 : 4e-16);
    }
  }
  // Points that are far from the others and near each other.
  EXPECT_THAT(rips_persistence(of({0, 0, 0x3p-660, 0x4p-660, 0x3p660, 0x4p660}, 2), {}).h0,
              ElementsAre(Interval{0, 0x5p-660}, Interval{0, 0x5p660}, Interval{0, HUGE_VAL}));
}

TEST(Rips, PointsFurtherApartThanTheLargestDoubleAreNamed) {
  for (const Metric metric : {Metric::euclidean, Metric::maximum})
    EXPECT_THAT(
        [&] {
          Distances::of_points({{0, 1, -1.7e308, 1.7e308}, 1}, metric, 2, "x.csv");
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("x.csv: points 2 and 3 (from 0) are further apart "
                                                 "than the largest double; divide the data by")));
  EXPECT_THROW(of({0, 0, 1.7e308, 1.7e308}, 2), InvalidArgument);
  EXPECT_EQ(rips_persistence(of({-0.8e308, 0.8e308}, 1), {}).h0[0].death, 1.6e308);
}

TEST(Rips, NormalizedPointsDoNotDependOnTheAmplitude) {
  std::vector<double> series;
  for (int t = 0; t < 40; ++t) series.push_back(std::sin(0.4 * t) + (t == 7));
  const auto points = [&](double scale) {
    std::vector<double> scaled = series;
    for (double& x : scaled) x *= scale;
    const std::span<const double> columns[] = {scaled};
    return delay_points(columns, 0, 40, {.dimension = 8, .delay = 2, .normalize = true}, "x").values;
  };
  for (const double scale : {0x1p-1000, 0x1p-450, 0x1p-300, 0x1p300, 0x1p600, 0x1p1020})
    EXPECT_EQ(points(scale), points(1)) << scale;
  for (const double scale : {1e-300, 1e-160, 1e160, 0.8e308}) {
    const auto got = points(scale), want = points(1);
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-15);
  }
  EXPECT_EQ(points(0), std::vector<double>(points(1).size(), 0.0));
}

TEST(Rips, EqualsTheStandardReductionOverAllSimplices) {
  std::mt19937 random(1);
  int loops = 0;
  for (int round = 0; round < 400; ++round) {
    const std::int64_t width = 1 + round % 3;
    const auto distances =
        of(cloud(random, std::size_t((2 + round % 11) * width), round % 4 ? 0 : 3 + round % 5), width);
    const double radius = distances.enclosing_radius(), threshold = round % 5 ? radius : 0.6 * radius;
    const Diagrams got = rips_persistence(distances, {.threshold = threshold, .capacity = 4});
    expect_equal(got, naive_persistence(distances, threshold));
    if (threshold == radius)
      expect_equal(got, naive_persistence(distances, HUGE_VAL));  // a cone from there on
    loops += int(got.h1.size());
  }
  EXPECT_GT(loops, 50);
}

TEST(Rips, AnyMatrixOfDistancesWithTiesAndInfinities) {
  std::mt19937 random(2);
  int loops = 0;
  for (int round = 0; round < 300; ++round) {
    const std::int64_t n = 3 + round % 9;
    std::vector<double> matrix(std::size_t(n * n));
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < i; ++j) {
        const unsigned level = unsigned(random() % 6);
        matrix[std::size_t(i * n + j)] = matrix[std::size_t(j * n + i)] = level == 5 ? HUGE_VAL : level;
      }
    const auto distances = Distances::of_matrix(matrix, n, n, "matrix");
    const Diagrams got = rips_persistence(distances, {.threshold = HUGE_VAL, .capacity = 2});
    expect_equal(got, naive_persistence(distances, HUGE_VAL));
    loops += int(got.h1.size());
  }
  EXPECT_GT(loops, 50);
}

TEST(Rips, DependsNeitherOnTheOrderOfPointsNorOnThreadsNorOnCapacity) {
  std::mt19937 random(3);
  for (int round = 0; round < 6; ++round) {
    std::vector<double> x = round < 3 ? circle(random, 90) : cloud(random, 160, 8);
    const Diagrams want = rips_persistence(of(x, 2), {});
    EXPECT_FALSE(want.h1.empty());
    for (const std::size_t capacity : {2, 7, 100, 3000})
      expect_equal(rips_persistence(of(x, 2), {.threads = 4, .capacity = capacity}), want);
    std::vector<std::array<double, 2>> points;
    for (std::size_t i = 0; i < x.size(); i += 2) points.push_back({x[i], x[i + 1]});
    std::ranges::shuffle(points, random);
    for (std::size_t i = 0; i < points.size(); ++i) x[2 * i] = points[i][0], x[2 * i + 1] = points[i][1];
    expect_equal(rips_persistence(of(x, 2), {}), want);
  }
}

TEST(Rips, EqualsRipser) {
  std::ifstream file(source_dir() / "tests/topology/data/ripser.json");
  const auto golden = nlohmann::json::parse(file);
  ASSERT_GE(golden.at("clouds").size(), 6u);
  for (const auto& c : golden.at("clouds")) {
    const auto points = c.at("points").get<std::vector<double>>();
    const Diagrams got = rips_persistence(of(points, c.at("width")), {});
    for (const auto& [name, diagram] : {std::pair("h0", got.h0), {"h1", got.h1}}) {
      const auto want = c.at(name).get<std::vector<std::array<double, 2>>>();
      ASSERT_EQ(diagram.size(), want.size());
      for (std::size_t i = 0; i < want.size(); ++i) {  // Ripser holds distances in f32
        EXPECT_NEAR(diagram[i].birth, want[i][0], 0x1p-24 * want[i][0]);
        if (want[i][1] < 0)
          EXPECT_EQ(diagram[i].death, HUGE_VAL);
        else
          EXPECT_NEAR(diagram[i].death, want[i][1], 0x1p-24 * want[i][1]);
      }
    }
  }
}

TEST(Rips, BadInputIsNamed) {
  const auto refused = [](const auto& call, const char* text) {
    EXPECT_THAT(call, ThrowsMessage<InvalidArgument>(HasSubstr(text)));
  };
  const auto matrix = [](std::vector<double> m, std::int64_t rows, std::int64_t columns) {
    return [=] { Distances::of_matrix(m, rows, columns, "m.csv"); };
  };
  refused([] { of({}, 1); }, "points: there are no points");
  refused([] { of({1, 2, 3, std::nan("")}, 2); }, "points: row 1, column 1 is NaN");
  refused([] { of({HUGE_VAL, 2}, 2); }, "points: row 0, column 0 is infinite");
  refused(matrix({0, 1, 1, 0, 1, 1}, 2, 3),
          "m.csv: a matrix of distances is square, but this one has 2 rows and 3 columns");
  refused(matrix({0, 1, 2, 0}, 2, 2),
          "m.csv: is not symmetric: row 1, column 0 is 2, but row 0, column 1 is 1");
  refused(matrix({0, 1, 1, 3}, 2, 2), "row 1, column 1 is not 0");
  refused(matrix({0, -1, -1, 0}, 2, 2), "is negative");
  refused(matrix({0, std::nan(""), 1, 0}, 2, 2), "row 0, column 1 is NaN");
  refused([] { rips_persistence(of({1, 2}, 1), {.max_dimension = 2}); }, "max_dimension is 2");
  refused([] { rips_persistence(of({1, 2}, 1), {.threshold = -1}); }, "threshold");
  refused([] { of(std::vector<double>(92682), 1); }, "at most 92681");
  EXPECT_EQ(persistence_bytes(2), 36 + 8);
}

TEST(Rips, IsInterruptedAndTellsHowFarItIs) {
  std::mt19937 random(4);
  const auto distances = of(circle(random, 200), 2);
  std::atomic<bool> stop{false};
  const Interruptible interruptible(&stop);
  double most = 0;
  rips_persistence(distances, {},
                   [&](double done, double total) { most = std::max(most, (done + 1) / total); });
  EXPECT_EQ(most, 1);
  EXPECT_THROW(rips_persistence(distances, {}, [&](double, double) { stop = true; }), Interrupted);
}

}  // namespace
}  // namespace kolmo::topology
