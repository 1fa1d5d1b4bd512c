#include "kolmo/flow/estimate/gaussian.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/flow/estimate/analytic_test.hpp"
#include "kolmo/flow/infer/checkpoint.hpp"
#include "kolmo/flow/infer/network.hpp"
#include "kolmo/flow/infer/network_record.hpp"
#include "kolmo/flow/test/inspect_test.hpp"
#include "kolmo/knn/permutation.hpp"
#include "tests/flow/test_series.hpp"
#include "tests/io/temporary_folder.hpp"

namespace kolmo {
namespace {

using namespace testing_flow;
using Values = std::vector<double>;

const EstimatorOptions gaussian{.estimator = Estimator::gaussian};

EstimationTask mutual(const Series& s, Coordinates x, Coordinates y, Coordinates z = {}) {
  return {"mi", {std::move(x)}, std::move(y), std::move(z), embeddable(s, 0), {0}};
}

Estimates estimated(const Series& s, const EstimationTask& task, const EstimatorOptions& o = gaussian) {
  Stream stream;
  return estimate(s, task, o, stream);
}

/// y = r x + sqrt(1 - r^2) e, where x and e have exactly mean 0, equal squares and no correlation.
TEST(GaussianEstimator, ClosedFormOfACorrelation) {
  const Values x{1, 1, -1, -1, 1, 1, -1, -1}, e{1, -1, 1, -1, 1, -1, 1, -1};
  for (const double r : {0.0, 0.1, 0.6, -0.99}) {
    Values y(8);
    for (std::size_t t = 0; t < 8; ++t) y[t] = r * x[t] + std::sqrt(1 - r * r) * e[t];
    const Series s = series_of({x, y});
    const Estimates found = estimated(s, mutual(s, {{0, 0}}, {{1, 0}}));
    // An error d of r^2 gives an error d / (2 (1 - r^2)) of the value; d is at most some 16 roundings.
    EXPECT_NEAR(found.observed(0), -0.5 * std::log(1 - r * r), 8 * 0x1p-53 / (1 - r * r));
    // The test of a correlation: t = r sqrt((n - 2) / (1 - r^2)) has n - 2 = 6 degrees of freedom, for which
    // P(|T| > t) = 1 - s (15 - 10 s^2 + 3 s^4) / 8 with s = t / sqrt(6 + t^2) = |r|.
    const double q = std::abs(r);
    EXPECT_NEAR(found.p_values[0], 1 - q * (15 - 10 * q * q + 3 * std::pow(q, 4)) / 8, 1e-13);
  }
}

/// The logarithm of the determinant of the covariances of columns, by Gaussian elimination.
double log_determinant(const std::vector<Values>& columns) {
  const std::size_t d = columns.size(), n = d ? columns[0].size() : 0;
  std::vector<std::vector<long double>> s(d, std::vector<long double>(d, 0));
  std::vector<long double> mean(d, 0);
  for (std::size_t i = 0; i < d; ++i)
    for (const double v : columns[i]) mean[i] += v / static_cast<long double>(n);
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j < d; ++j)
      for (std::size_t t = 0; t < n; ++t) s[i][j] += (columns[i][t] - mean[i]) * (columns[j][t] - mean[j]);
  long double sum = 0;
  for (std::size_t k = 0; k < d; ++k) {
    sum += std::log(s[k][k]);
    for (std::size_t i = k + 1; i < d; ++i)
      for (std::size_t j = k + 1; j < d; ++j) s[i][j] -= s[i][k] * s[k][j] / s[k][k];
  }
  return double(sum);
}

std::vector<Values> mixed_columns(std::size_t n) {
  std::vector<Values> c;
  for (std::int64_t i = 0; i < 6; ++i) c.push_back(normals(3, i, n));
  for (std::size_t t = 0; t < n; ++t) {
    c[1][t] += 0.5 * c[0][t], c[2][t] += 0.7 * c[0][t] - 0.2 * c[1][t];
    c[3][t] += c[5][t] + 0.3 * c[1][t], c[4][t] = 1000 + 0.01 * (c[4][t] + c[5][t] + c[0][t]);
  }
  return c;
}

// I = 1/2 ln( |S_xz| |S_yz| / (|S_z| |S_xyz|) ) from determinants in long double.
TEST(GaussianEstimator, AgreesWithDeterminants) {
  const auto c = mixed_columns(200);
  const Series s = series_of(c);
  const auto columns = [&](std::initializer_list<std::vector<int>> parts) {
    std::vector<Values> chosen;
    for (const auto& part : parts)
      for (const int i : part) chosen.push_back(c[std::size_t(i)]);
    return chosen;
  };
  const auto at = [](const std::vector<int>& variables) {
    Coordinates all;
    for (const int v : variables) all.push_back({v, 0});
    return all;
  };
  const std::vector<int> cases[][3] = {{{0}, {1}, {}},     {{0}, {4}, {5}},      {{0, 1}, {2}, {5}},
                                       {{0}, {2, 3}, {5}}, {{0, 1}, {2, 3}, {}}, {{0, 1, 4}, {2, 3}, {5}}};
  for (const auto& [x, y, z] : cases) {
    const double want = (log_determinant(columns({x, z})) + log_determinant(columns({y, z})) -
                         log_determinant(columns({z})) - log_determinant(columns({x, y, z}))) /
                        2;
    EXPECT_NEAR(estimated(s, mutual(s, at(x), at(y), at(z))).observed(0), want, 1e-12);
    EXPECT_NEAR(estimated(s, mutual(s, at(y), at(x), at(z))).observed(0), want, 1e-12) << "symmetric";
  }
}

TEST(GaussianEstimator, ScaleShiftNoiseAndStandardisationChangeNothing) {
  auto c = mixed_columns(150);
  const auto value = [&](const Preparation& p) {
    const Series s = series_of(c, p);
    return estimated(s, mutual(s, {{0, 0}}, {{2, 0}}, {{5, 0}})).observed(0);
  };
  const double usual = value({});
  EXPECT_EQ(value({.noise = 0.1}), usual);
  EXPECT_NEAR(value({.standardize = Standardize::series}), usual, 1e-13);
  for (double& v : c[0]) v = 1e200 * v;
  for (double& v : c[2]) v = 1e6 - 1e-3 * v;
  EXPECT_NEAR(value({}), usual, 1e-9);
}

TEST(GaussianEstimator, DegenerateColumns) {
  const auto a = normals(1, 0, 100), b = normals(1, 1, 100);
  Values sum(100);
  for (std::size_t t = 0; t < 100; ++t) sum[t] = 2 * a[t] - b[t];
  const Series s = series_of({a, b, sum, Values(100, 0.1)});
  const auto found = [&](Coordinates x, Coordinates y, Coordinates z) {
    return estimated(s, mutual(s, std::move(x), std::move(y), std::move(z)));
  };
  // A constant, and a column that the condition determines, have no information, and p = 1.
  for (const Estimates& e : {found({{2, 0}}, {{1, 0}}, {{0, 0}, {1, 0}}), found({{3, 0}}, {{1, 0}}, {}),
                             found({{0, 0}}, {{3, 0}}, {})}) {
    EXPECT_EQ(e.observed(0), 0);
    EXPECT_EQ(e.p_values[0], 1);
  }
  // Without noise the value is half of ln 2^52.
  EXPECT_NEAR(found({{0, 0}}, {{0, 0}}, {}).observed(0), 26 * std::log(2), 1.0);
  EXPECT_NEAR(found({{0, 0}}, {{2, 0}}, {{1, 0}}).observed(0), 26 * std::log(2), 1.0);
  // A column that is given twice counts once, in the value and in the degrees of freedom.
  const Estimates once = found({{0, 0}}, {{2, 0}}, {}), twice = found({{0, 0}, {0, 0}}, {{2, 0}}, {});
  EXPECT_EQ(once.values, twice.values);
  EXPECT_EQ(once.p_values, twice.p_values);
}

// y(t) = 0.5 y(t-1) + c x(t-1) + e(t), x white: T = ln(1 + c^2) / 2. The deviation of the estimate is about
// sqrt(2 T / N) < 0.003 at N = 100000.
TEST(GaussianEstimator, TransferEntropyOfAnAutoregressiveSystem) {
  constexpr std::size_t n = 100000;
  constexpr double c = 0.7;
  const auto x = normals(5, 0, n);
  auto y = normals(5, 1, n);
  for (std::size_t t = 1; t < n; ++t) y[t] += 0.5 * y[t - 1] + c * x[t - 1];
  const Series s = series_of({x, y});
  const auto te = [&](std::int32_t from, std::int32_t to) {
    return estimated(s, transfer_entropy_task(s, from, to, {}, {}, {}, 1)).observed(0);
  };
  EXPECT_NEAR(te(0, 1), 0.5 * std::log(1 + c * c), 0.01);
  EXPECT_NEAR(te(1, 0), 0, 1e-3);
}

// 1000 independent pairs of AR(1) 0.9: rejections at 5 % have mean 50 and deviation 6.9, so that 28 to 72 is
// more than three deviations. Mutual information at the same time is rejected far more often.
TEST(AnalyticTest, FalsePositivesOfAutocorrelatedSeries) {
  constexpr std::size_t n = 300, burn = 100;
  int rejected = 0, mutual_rejected = 0;
  Stream stream;
  for (std::int64_t pair = 0; pair < 1000; ++pair) {
    std::vector<Values> c{normals(9, 2 * pair, n + burn), normals(9, 2 * pair + 1, n + burn)};
    for (Values& v : c) {
      for (std::size_t t = 1; t < v.size(); ++t) v[t] += 0.9 * v[t - 1];
      v.erase(v.begin(), v.begin() + burn);
    }
    const Series s = series_of(c, {.noise = 0});
    rejected +=
        estimate(s, transfer_entropy_task(s, 0, 1, {}, {}, {}, 1), gaussian, stream).p_values[0] <= 0.05;
    mutual_rejected += estimate(s, mutual(s, {{0, 0}}, {{1, 0}}), gaussian, stream).p_values[0] <= 0.05;
  }
  EXPECT_GT(rejected, 28);
  EXPECT_LT(rejected, 72);
  EXPECT_GT(mutual_rejected, 300);
}

// The test of the name above, for white noise. Its formula is exact for two columns with one; for two with
// two at 30 rows it needs Bartlett's factor.
TEST(AnalyticTest, FalsePositivesOfSeveralColumns) {
  int one = 0, two = 0;
  for (std::int64_t set = 0; set < 1000; ++set) {
    std::vector<Values> c;
    for (std::int64_t i = 0; i < 5; ++i) c.push_back(normals(11, 5 * set + i, 30));
    const Series s = series_of(c, {.noise = 0});
    one += estimated(s, mutual(s, {{0, 0}, {1, 0}}, {{2, 0}}, {{4, 0}})).p_values[0] <= 0.05;
    two += estimated(s, mutual(s, {{0, 0}, {1, 0}}, {{2, 0}, {3, 0}}, {{4, 0}})).p_values[0] <= 0.05;
  }
  for (const int rejected : {one, two}) {
    EXPECT_GT(rejected, 28);
    EXPECT_LT(rejected, 72);
  }
}

TEST(AnalyticTest, Formulas) {
  // With d = 2, P(F(2, m) > f) = (1 + 2 f / m)^(-m/2), and 1 + 2 f / m = exp(2 I).
  EXPECT_NEAR(analytic_p_value(0.1, {23, 2, 1, 0}), std::exp(-0.1 * 20), 1e-14);
  EXPECT_NEAR(analytic_p_value(0.1, {26, 1, 2, 3}), std::exp(-0.1 * 20), 1e-14);
  // With four degrees of freedom, P(X > v) = exp(-v / 2) (1 + v / 2), v = 2 (N - 1 - 5 / 2) I.
  EXPECT_NEAR(analytic_p_value(0.05, {103, 2, 2, 0}), std::exp(-4.975) * 5.975, 1e-14);
  EXPECT_EQ(analytic_p_value(0, {103, 2, 2, 0}), 1);
  EXPECT_EQ(analytic_test(3, 1), "F");
  EXPECT_EQ(analytic_test(1, 2), "F");
  EXPECT_EQ(analytic_test(2, 2), "chi-square");
  EXPECT_NEAR(sidak(Values{0.3, 0.01, 0.5}), 1 - std::pow(0.99, 3), 1e-15);
  EXPECT_NEAR(sidak(Values{1e-30, 1}), 2e-30, 1e-42);
  EXPECT_EQ(sidak(Values{1, 1}), 1);
}

TEST(AnalyticTest, WarnsOfMutualInformationBetweenAutocorrelatedSeries) {
  std::vector<Values> c{normals(2, 0, 500), normals(2, 1, 500), normals(2, 2, 500)};
  for (std::size_t v = 0; v < 2; ++v)
    for (std::size_t t = 1; t < 500; ++t) c[v][t] += 0.8 * c[v][t - 1];
  const Series s = series_of(c);
  const auto seen = inspect_analytic_test(s, mutual(s, {{0, 0}}, {{1, 0}, {2, 0}}), gaussian);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].name, "analytic_test");
  EXPECT_THAT(seen[0].text, testing::StartsWith("x0 and x1 (500 rows count as "));
  EXPECT_TRUE(inspect_analytic_test(s, mutual(s, {{0, 0}}, {{2, 0}}), gaussian).empty());
  EXPECT_TRUE(inspect_analytic_test(s, mutual(s, {{0, 0}}, {{1, 0}}), {}).empty()) << "ksg";
}

TEST(GaussianEstimator, SurrogatesReplaceTheAnalyticTest) {
  const auto c = mixed_columns(100);
  const Series s = series_of(c);
  EstimatorOptions o = gaussian;
  o.surrogates = 50, o.surrogate_type = SurrogateMethod::permute;
  EstimationTask task = mutual(s, {{0, 0}, {1, 0}}, {{2, 0}}, {{5, 0}});
  const Estimates e = estimated(s, task, o);
  EXPECT_TRUE(e.p_values.empty());
  EXPECT_EQ(e.observed(0), estimated(s, task).observed(0));
  // The value of a surrogate is the estimate for the rows in its order.
  const SurrogateMap map({SurrogateType::permute, 0, 1, 0}, 100, 0, 7);
  auto shuffled = c;
  for (std::uint32_t t = 0; t < 100; ++t)
    for (std::size_t v = 0; v < 2; ++v) shuffled[v][t] = c[v][map(t)];
  const Series other = series_of(shuffled);
  EXPECT_NEAR(e.surrogate(0)[6], estimated(other, task).observed(0), 1e-13);
}

TEST(GaussianEstimator, ThreadsAndBatchesChangeNothing) {
  const Series s = series_of(mixed_columns(120));
  Stream one({}, 1), two({}, 2);
  const std::vector<EstimationTask> tasks{transfer_entropy_task(s, 0, 2, {}, {2, 1}, {2, 1}, 1),
                                          transfer_entropy_task(s, 3, 1, {}, {1, 1}, {1, 1}, 2)};
  for (const std::int64_t surrogates : {0, 30}) {
    EstimatorOptions o = gaussian;
    o.surrogates = surrogates;
    const auto together = estimate(s, tasks, o, one);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      EXPECT_EQ(estimate(s, tasks[i], o, two).values, together[i].values);
      EXPECT_EQ(estimate(s, tasks[i], o, two).p_values, together[i].p_values);
    }
  }
}

TEST(GaussianEstimator, NetworkCorrectsForTheLags) {
  auto c = std::vector{normals(4, 0, 400), normals(4, 1, 400), normals(4, 2, 400)};
  for (std::size_t t = 2; t < 400; ++t) c[1][t] += 0.4 * c[0][t - 2];
  const Series s = series_of(c);
  NetworkOptions o{.variables = {0, 1, 2}, .max_lag = 3, .estimator = gaussian};
  Stream one({}, 1), two({}, 2);
  const Network found = infer_network(s, o, one, nullptr, nullptr);
  ASSERT_EQ(found.links.size(), 6u);
  for (const LinkResult& l : found.links) {
    EXPECT_EQ(l.significant, l.source == 0 && l.target == 1);
    if (l.significant) {
      EXPECT_EQ(l.lag, 2);
    }
    const auto samples = std::size_t(found.targets[std::size_t(l.target)].samples);
    const auto history = std::size_t(found.targets[std::size_t(l.target)].embedding.history);
    const double p = analytic_p_value(l.value, {samples, 1, 1, history});
    EXPECT_NEAR(l.p_value, 1 - std::pow(1 - p, 3), 1e-12);
  }
  const Network again = infer_network(s, o, two, nullptr, nullptr);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(again.links[i].p_value, found.links[i].p_value);
    EXPECT_EQ(again.links[i].profile, found.links[i].profile);
  }
  o.embedding = EmbeddingRule::ragwitz;
  EXPECT_THROW(infer_network(s, o, one, nullptr, nullptr), InvalidArgument);
}

TEST(GaussianEstimator, NetworkGoesOnFromACheckpoint) {
  const auto c = mixed_columns(150);
  const Series s = series_of({c[0], c[1], c[2]});
  NetworkOptions o{.variables = {0, 1, 2}, .max_lag = 2, .estimator = gaussian};
  Stream stream;
  const auto text = [&](Checkpoint* checkpoint) {
    std::string all;
    for (const LinkResult& l : infer_network(s, o, stream, checkpoint, nullptr).links)
      all += to_record({&l, 1});
    return all;
  };
  const std::string whole = text(nullptr);
  testing_io::TemporaryFolder folder;
  std::map<Checkpoint::Id, std::string> records;
  {
    Checkpoint first(folder / "first", "key");
    EXPECT_EQ(text(&first), whole);
  }
  records = Checkpoint(folder / "first", "key").finished();
  ASSERT_EQ(records.size(), 6u);
  records.erase(records.begin());
  records.erase(std::prev(records.end()));
  Checkpoint(folder / "second", "key").add(records);
  Checkpoint second(folder / "second", "key");
  EXPECT_EQ(second.finished().size(), 4u);
  EXPECT_EQ(text(&second), whole);
}

TEST(GaussianEstimator, TooFewRowsAndOtherDevicesAreRefused) {
  const Series s = series_of({{1, 2, 4, 3}, {2, 1, 4, 3}});
  const EstimationTask task = transfer_entropy_task(s, 0, 1, {}, {}, {}, 1);
  try {
    estimated(s, task);
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "test: x0 -> x1: 3 embedded rows are too few; 3 dimensions need more than 4");
  }
  const Device simt{DeviceKind::simt, 0};
  if (!available(simt)) GTEST_SKIP() << "no emulated GPU in this build";
  const Series longer = series_of(mixed_columns(50));
  Stream stream(simt);
  try {
    estimate(longer, transfer_entropy_task(longer, 0, 1, {}, {}, {}, 1), gaussian, stream);
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "estimator gaussian runs on the cpu, not on simt");
  }
}

}  // namespace
}  // namespace kolmo
