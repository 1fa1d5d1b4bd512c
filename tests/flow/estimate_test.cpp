#include "kolmo/flow/estimate/estimate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "kolmo/flow/estimate/entropy.hpp"
#include "kolmo/flow/test/statistics.hpp"
#include "kolmo/op/registry.hpp"
#include "tests/flow/test_series.hpp"

namespace kolmo {
namespace {

using namespace testing_flow;
constexpr std::size_t n = 400;
constexpr int seeds = 200;

EstimationTask mutual(const Series& s, Coordinates x, Coordinates y, Coordinates z = {}) {
  const std::int64_t longest = std::max({reach(x), reach(y), reach(z)});
  return {"mi", {std::move(x)}, std::move(y), std::move(z), embeddable(s, longest), {0}};
}

/// The mean and standard deviation of an estimate over 200 samples.
Summary over_seeds(const std::function<double(std::uint64_t seed, Stream& stream)>& f) {
  Stream stream;
  std::vector<double> values;
  for (int s = 0; s < seeds; ++s) values.push_back(f(std::uint64_t(s), stream));
  return summarize(values);
}

double mixed(double correlation, double a, double b) {
  return correlation * a + std::sqrt(1 - correlation * correlation) * b;
}

// Estimates are compared with closed forms for Gaussian variables. The bounds on bias and standard deviation
// at n = 400, k = 4 are set, not derived. The mean of 200 estimates has a standard error of a fourteenth of
// the deviation.
TEST(Gaussian, MutualInformation) {
  constexpr double r = 0.6;
  const double truth = -0.5 * std::log(1 - r * r);
  for (const auto algorithm : {KsgAlgorithm::ksg1, KsgAlgorithm::ksg2}) {
    const Summary s = over_seeds([&](std::uint64_t seed, Stream& stream) {
      const auto x = normals(seed, 0, n), e = normals(seed, 1, n);
      std::vector<double> y(n);
      for (std::size_t t = 0; t < n; ++t) y[t] = mixed(r, x[t], e[t]);
      const Series series = series_of({x, y});
      EstimatorOptions o;
      o.algorithm = algorithm;
      return estimate(series, mutual(series, {{0, 0}}, {{1, 0}}), o, stream).observed(0);
    });
    EXPECT_NEAR(s.mean, truth, 0.015);
    EXPECT_LT(s.deviation, 0.05);
  }
}

TEST(Gaussian, ConditionalMutualInformation) {
  // x and y share z and, beyond it, have correlation r.
  constexpr double r = 0.5;
  const double truth = -0.5 * std::log(1 - r * r);
  const Summary s = over_seeds([&](std::uint64_t seed, Stream& stream) {
    const auto z = normals(seed, 0, n), a = normals(seed, 1, n), b = normals(seed, 2, n);
    std::vector<double> x(n), y(n);
    for (std::size_t t = 0; t < n; ++t) x[t] = z[t] + a[t], y[t] = z[t] + mixed(r, a[t], b[t]);
    const Series series = series_of({x, y, z});
    return estimate(series, mutual(series, {{0, 0}}, {{1, 0}}, {{2, 0}}), {}, stream).observed(0);
  });
  EXPECT_NEAR(s.mean, truth, 0.03);
  EXPECT_LT(s.deviation, 0.05);
}

TEST(Gaussian, TransferEntropy) {
  // y(t) = 0.5 y(t-1) + c x(t-2) + e(t), x white: T = ln(1 + c^2) / 2 at lag 2, 0 at lag 1 and backwards.
  constexpr double c = 0.7;
  const auto at = [&](std::int32_t source, std::int32_t target, std::int64_t lag) {
    return over_seeds([=](std::uint64_t seed, Stream& stream) {
      const auto x = normals(seed, 0, n), e = normals(seed, 1, n);
      std::vector<double> y(e);
      for (std::size_t t = 2; t < n; ++t) y[t] = 0.5 * y[t - 1] + c * x[t - 2] + e[t];
      const Series series = series_of({x, y});
      return estimate(series, transfer_entropy_task(series, source, target, {}, {}, {}, lag), {}, stream)
          .observed(0);
    });
  };
  EXPECT_NEAR(at(0, 1, 2).mean, 0.5 * std::log(1 + c * c), 0.03);
  EXPECT_NEAR(at(0, 1, 1).mean, 0, 0.015);
  EXPECT_NEAR(at(1, 0, 1).mean, 0, 0.015);
  EXPECT_LT(at(0, 1, 2).deviation, 0.05);
}

TEST(Gaussian, EntropyInTheUnitsOfTheData) {
  for (const auto standardize : {Standardize::columns, Standardize::series, Standardize::none}) {
    Preparation p;
    p.standardize = standardize;
    const Summary one = over_seeds([&](std::uint64_t seed, Stream& stream) {
      auto x = normals(seed, 0, n);
      for (double& v : x) v = 3 * v + 10;
      return entropy(series_of({x}, p), {{0, 0}}, {}, stream);
    });
    const double gauss = 0.5 * std::log(2 * 3.141592653589793 * std::exp(1.0));
    EXPECT_NEAR(one.mean, gauss + std::log(3), 0.02);
    EXPECT_LT(one.deviation, 0.07);
  }
  const Summary two = over_seeds([](std::uint64_t seed, Stream& stream) {
    return entropy(series_of({normals(seed, 0, n), normals(seed, 1, n)}), {{0, 0}, {1, 0}}, {}, stream);
  });
  EXPECT_NEAR(two.mean, std::log(2 * 3.141592653589793 * std::exp(1.0)), 0.05);
}

// The points 0, 1, 3 have with k = 1 the distances 1, 1, 2, so that
// H = psi(3) - psi(1) + (ln 2 + ln 2 + ln 4) / 3 = 3/2 + 4/3 ln 2.
TEST(Entropy, ByHand) {
  Preparation p;
  p.noise = 0, p.standardize = Standardize::none;
  Stream stream;
  EstimatorOptions o;
  o.neighbors = 1;
  EXPECT_NEAR(entropy(series_of({{0, 1, 3}}, p), {{0, 0}}, o, stream), 1.5 + 4.0 / 3 * std::log(2), 1e-14);
}

TEST(Entropy, RepeatedValuesAreRefused) {
  Preparation p;
  p.noise = 0;
  Stream stream;
  EXPECT_THROW(entropy(series_of({{1, 1, 1, 1, 1, 2, 3}}, p), {{0, 0}}, {}, stream), InvalidArgument);
}

struct Pair {
  std::vector<double> x, y, z;
  explicit Pair(std::size_t size = 300)
      : x(normals(1, 0, size)), y(normals(1, 1, size)), z(normals(1, 2, size)) {
    for (std::size_t t = 0; t < size; ++t) y[t] += 0.5 * x[t] + z[t];
  }
};

EstimatorOptions with_surrogates(SurrogateMethod type = SurrogateMethod::permute) {
  EstimatorOptions o;
  o.surrogates = 17, o.seed = 3, o.surrogate_type = type;
  return o;
}

Preparation bare(Standardize standardize) {
  Preparation p;
  p.noise = 0, p.standardize = standardize;
  return p;
}

TEST(Invariance, SamplesInAnyOrder) {
  Pair p;
  Stream stream;
  const auto value = [&] {
    const Series s = series_of({p.x, p.y, p.z}, bare(Standardize::none));
    return estimate(s, mutual(s, {{0, 0}}, {{1, 0}}, {{2, 0}}), {}, stream).observed(0);
  };
  const double before = value();
  for (auto* v : {&p.x, &p.y, &p.z}) std::reverse(v->begin(), v->end());
  for (auto* v : {&p.x, &p.y, &p.z}) std::rotate(v->begin(), v->begin() + 100, v->end());
  EXPECT_EQ(value(), before);
}

TEST(Invariance, SwappingXAndY) {
  const Pair p;
  Stream stream;
  const Series s = series_of({p.x, p.y, p.z});
  for (const auto algorithm : {KsgAlgorithm::ksg1, KsgAlgorithm::ksg2})
    for (const Coordinates& z : {Coordinates{}, Coordinates{{2, 0}}}) {
      EstimatorOptions o;
      o.algorithm = algorithm;
      EXPECT_EQ(estimate(s, mutual(s, {{0, 0}}, {{1, 0}}, z), o, stream).observed(0),
                estimate(s, mutual(s, {{1, 0}}, {{0, 0}}, z), o, stream).observed(0));
    }
}

TEST(Invariance, Scale) {
  Pair p;
  Stream stream;
  const auto value = [&](Standardize standardize) {
    const Series s = series_of({p.x, p.y}, bare(standardize));
    return estimate(s, transfer_entropy_task(s, 0, 1, {}, {}, {}, 1), with_surrogates(), stream).values;
  };
  const auto columns = value(Standardize::columns), series = value(Standardize::series);
  for (double& v : p.x) v *= -0x1p20;  // a product with a power of two is exact
  for (double& v : p.y) v *= 0x1p-9;
  EXPECT_EQ(value(Standardize::columns), columns);
  EXPECT_EQ(value(Standardize::series), series);
}

TEST(Invariance, ThreadsAndDevices) {
  const Pair p(150);
  const Series s = series_of({p.x, p.y, p.z});
  const EstimationTask task = transfer_entropy_task(s, 0, 1, {{2, 1}}, {2, 1}, {1, 1}, 1);
  for (const auto type : {SurrogateMethod::permute, SurrogateMethod::circular, SurrogateMethod::block,
                          SurrogateMethod::phase, SurrogateMethod::iaaft}) {
    Stream one({}, 1), two({}, 2);
    const auto values = estimate(s, task, with_surrogates(type), one).values;
    EXPECT_EQ(estimate(s, task, with_surrogates(type), two).values, values);
    for (const Device device : {Device{DeviceKind::simt, 0}, Device{DeviceKind::cuda, 0}}) {
      if (!available(device) || !find_op("ksg_conditional_mutual_information").impl(device.kind)) continue;
      Stream stream(device);
      EXPECT_EQ(estimate(s, task, with_surrogates(type), stream).values, values) << to_string(device);
    }
  }
}

TEST(Invariance, Batches) {
  const Pair p;
  auto columns = std::vector{p.x, p.y, p.z};
  columns[1][140] = std::nan("");
  const Series s = series_of(columns);
  Stream stream;
  std::vector<EstimationTask> tasks{transfer_entropy_task(s, 0, 1, {}, {}, {}, 1),
                                    transfer_entropy_task(s, 2, 1, {}, {}, {}, 3),
                                    transfer_entropy_task(s, 1, 2, {}, {}, {}, 2)};
  const auto together = estimate(s, tasks, with_surrogates(), stream);
  for (std::size_t i = 0; i < tasks.size(); ++i)
    EXPECT_EQ(estimate(s, tasks[i], with_surrogates(), stream).values, together[i].values);
  std::reverse(tasks.begin(), tasks.end());
  EXPECT_EQ(estimate(s, tasks, with_surrogates(), stream)[0].values, together[2].values);
}

TEST(Invariance, EqualStreamsShuffleAlike) {
  const Pair p;
  const Series s = series_of({p.x, p.y});
  Stream stream;
  EstimationTask task = transfer_entropy_task(s, 0, 1, {}, {}, {}, 1);
  task.x.push_back(task.x[0]), task.x.push_back(task.x[0]);
  task.streams = {task.streams[0], task.streams[0], task.streams[0] + 1};
  const Estimates e = estimate(s, task, with_surrogates(), stream);
  EXPECT_TRUE(std::ranges::equal(e.surrogate(0), e.surrogate(1)));
  EXPECT_FALSE(std::ranges::equal(e.surrogate(0), e.surrogate(2)));
  EXPECT_EQ(e.observed(0), e.observed(2));
}

TEST(Estimate, TooFewRowsNameTheTask) {
  Stream stream;
  const Series s = series_of({{1, 2, 3, 4, 5}, {2, 1, 4, 3, 5}});
  try {
    estimate(s, transfer_entropy_task(s, 0, 1, {}, {}, {}, 1), {}, stream);
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(),
                 "test: x0 -> x1: 4 embedded rows are too few; 4 neighbours and a Theiler window of 0 need "
                 "more than 4");
  }
}

TEST(Estimate, SinglePrecisionIsNear) {
  const Pair p;
  const Series s = series_of({p.x, p.y});
  Stream stream;
  EstimatorOptions o;
  const EstimationTask task = mutual(s, {{0, 0}}, {{1, 0}});
  const double f64 = estimate(s, task, o, stream).observed(0);
  o.f32 = true;
  const double f32 = estimate(s, task, o, stream).observed(0);
  EXPECT_NEAR(f32, f64, 1e-3);
}

// Single precision loses the noise that tells equal values apart.
TEST(Estimate, SinglePrecisionHasAnotherValueWhereValuesRepeat) {
  Pair p;
  for (double& v : p.x) v = std::round(4 * v) / 4;
  const Series s = series_of({p.x, p.y});
  Stream stream;
  EstimatorOptions o;
  const EstimationTask task = mutual(s, {{0, 0}}, {{1, 0}});
  const double f64 = estimate(s, task, o, stream).observed(0);
  o.f32 = true;
  EXPECT_NE(estimate(s, task, o, stream).observed(0), f64);
}

// The truth is 0. The noise alone would give something, and without it all points would be equal.
TEST(Estimate, OfAVariableThatNeverChangesIsNothing) {
  Stream stream;
  for (const double noise : {1e-8, 0.0}) {
    const Series s = series_of({normals(1, 0, 300), std::vector<double>(300, 7.25)}, {.noise = noise});
    for (const auto kind : {Estimator::ksg, Estimator::gaussian})
      for (const auto algorithm : {KsgAlgorithm::ksg1, KsgAlgorithm::ksg2})
        for (const EstimationTask& task :
             {transfer_entropy_task(s, 0, 1, {}, {}, {}, 1), transfer_entropy_task(s, 1, 0, {}, {}, {}, 1),
              storage_task(s, 1, {2, 1}), mutual(s, {{0, 0}}, {{1, 0}}), mutual(s, {{1, 0}}, {{0, 0}})}) {
          const Estimates e =
              estimate(s, task, {.surrogates = 19, .algorithm = algorithm, .estimator = kind}, stream);
          EXPECT_EQ(e.observed(0), 0) << task.name << noise;
          for (const double surrogate : e.surrogate(0)) EXPECT_EQ(surrogate, 0) << task.name << noise;
          EXPECT_THAT(local_values(s, task, {.algorithm = algorithm, .estimator = kind}, stream),
                      testing::Each(0));
        }
    EXPECT_EQ(entropy(s, {{1, 0}}, {}, stream), 0);
    // Beside a variable that changes, it changes nothing.
    const double alone = estimate(s, mutual(s, {{0, 0}}, {{0, 1}}), {}, stream).observed(0);
    EXPECT_NEAR(estimate(s, mutual(s, {{0, 0}, {1, 0}}, {{0, 1}}), {}, stream).observed(0), alone, 1e-9);
    EXPECT_EQ(estimate(s, mutual(s, {{0, 0}}, {{0, 1}}, {{1, 0}}), {}, stream).observed(0), alone);
  }
}

TEST(Invariance, OfUnitsFarFromOne) {
  Stream stream;
  std::vector<double> x = normals(2, 0, 500), y = normals(2, 1, 500);
  for (std::size_t t = 0; t < x.size(); ++t) y[t] += x[t];
  const Series plain = series_of({x, y});
  for (const double unit : {1e160, 1e-162, 1e300, 1e-300}) {
    std::vector<double> scaled = x;
    for (double& v : scaled) v *= unit;
    for (const auto standardize : {Standardize::columns, Standardize::series}) {
      const Series s = series_of({scaled, y}, {.standardize = standardize});
      for (const auto kind : {Estimator::ksg, Estimator::gaussian}) {
        const EstimatorOptions o{.surrogates = 9, .estimator = kind};
        const Estimates a = estimate(plain, mutual(plain, {{0, 0}}, {{1, 0}}), o, stream),
                        b = estimate(s, mutual(s, {{0, 0}}, {{1, 0}}), o, stream);
        for (std::size_t i = 0; i < a.values.size(); ++i) EXPECT_NEAR(b.values[i], a.values[i], 1e-9) << unit;
      }
      EXPECT_NEAR(entropy(s, {{0, 0}}, {}, stream), entropy(plain, {{0, 0}}, {}, stream) + std::log(unit),
                  1e-9)
          << unit;
    }
  }
}

TEST(TheilerWindow, DoesNotInflateEstimatesOfNoise) {
  Stream stream;
  constexpr std::size_t rows = 1000;
  double mutual_sum = 0, entropy_sum = 0, storage_sum = 0;
  constexpr int samples = 20;
  const EstimatorOptions o{.theiler = 100};
  for (int i = 0; i < samples; ++i) {
    const Series s = series_of({normals(std::uint64_t(i), 0, rows), normals(std::uint64_t(i), 1, rows)},
                               {.standardize = Standardize::none});
    mutual_sum += estimate(s, mutual(s, {{0, 0}}, {{1, 0}}), o, stream).observed(0);
    storage_sum += estimate(s, storage_task(s, 0, {}), o, stream).observed(0);
    entropy_sum += entropy(s, {{0, 0}}, o, stream);
  }
  const double truth = 0.5 * std::log(2 * std::numbers::pi * std::numbers::e);
  EXPECT_NEAR(mutual_sum / samples, 0, 0.02);
  EXPECT_NEAR(storage_sum / samples, 0, 0.02);
  EXPECT_NEAR(entropy_sum / samples, truth, 0.02);
}

TEST(TheilerWindow, CountsTheRowsThatEachRowMayChooseFrom) {
  Stream stream;
  const Series s = series_of({normals(1, 0, 30), normals(1, 1, 30)});
  const EstimationTask task = mutual(s, {{0, 0}}, {{1, 0}});
  EstimatorOptions allowed{.neighbors = 2, .theiler = 3}, all = allowed;
  all.theiler_count = TheilerCount::all;
  const auto psi = [](int n) {
    double value = -std::numbers::egamma;
    for (int i = 1; i < n; ++i) value += 1.0 / i;
    return value;
  };
  const std::vector<double> a = local_values(s, task, allowed, stream),
                            b = local_values(s, task, all, stream);
  double sum = 0;
  for (int i = 0; i < 30; ++i) {
    const int excluded = std::min(i, 3) + std::min(29 - i, 3);
    EXPECT_NEAR(a[std::size_t(i)] - b[std::size_t(i)], psi(30 - excluded) - psi(30), 1e-12) << i;
    sum += a[std::size_t(i)];
  }
  EXPECT_NEAR(estimate(s, task, allowed, stream).observed(0), sum / 30, 1e-12);
}

TEST(TheilerWindow, ChangesEverySurrogateAlikeAndNoConditionalEstimate) {
  Stream stream;
  const Series s = series_of({normals(2, 0, 200), normals(2, 1, 200), normals(2, 2, 200)});
  EstimatorOptions allowed{.theiler = 10, .surrogates = 9}, all = allowed;
  all.theiler_count = TheilerCount::all;
  const EstimationTask without = mutual(s, {{0, 0}}, {{1, 0}}),
                       with = mutual(s, {{0, 0}}, {{1, 0}}, {{2, 0}});
  const auto a = estimate(s, without, allowed, stream).values, b = estimate(s, without, all, stream).values;
  EXPECT_LT(a[0], b[0] - 0.05);
  for (std::size_t i = 1; i < a.size(); ++i) EXPECT_NEAR(b[i] - a[i], b[0] - a[0], 1e-12);
  EXPECT_EQ(estimate(s, with, allowed, stream).values, estimate(s, with, all, stream).values);
}

}  // namespace
}  // namespace kolmo
