#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <map>
#include <numeric>

#include "kolmo/flow/data/ordinal.hpp"
#include "kolmo/flow/estimate/progress.hpp"
#include "kolmo/flow/result/local_table.hpp"
#include "kolmo/op/registry.hpp"
#include "tests/flow/test_series.hpp"

namespace kolmo {
namespace {

using namespace testing_flow;
using Values = std::vector<double>;
using Rows = std::vector<Values>;

/// x drives y one row later; z is noise.
Series coupled(std::size_t n,
               const Preparation& preparation = {.standardize = Standardize::none, .noise = 0}) {
  const Values x = normals(4, 0, n), e = normals(4, 1, n);
  Values y = e;
  for (std::size_t t = 1; t < n; ++t) y[t] = 0.4 * y[t - 1] + 0.6 * x[t - 1] + e[t];
  return series_of({x, y, normals(4, 2, n)}, preparation);
}

EstimationTask transfer(const Series& s) { return transfer_entropy_task(s, 0, 1, {{2, 2}}, {}, {2, 1}, 1); }

/// The rows of some coordinates of a task.
Rows rows_of(const Series& s, const EstimationTask& task, std::initializer_list<const Coordinates*> parts) {
  Rows rows;
  for (const std::int64_t t : task.times) {
    rows.emplace_back();
    for (const Coordinates* part : parts)
      for (const Coordinate& c : *part)
        rows.back().push_back(s.values[std::size_t(c.variable)][std::size_t(t - c.lag)]);
  }
  return rows;
}

double mean(const Values& v) { return std::accumulate(v.begin(), v.end(), 0.0) / double(v.size()); }

double distance(const Values& a, const Values& b) {
  double d = 0;
  for (std::size_t i = 0; i < a.size(); ++i) d = std::max(d, std::abs(a[i] - b[i]));
  return d;
}

Values naive_ksg(const Series& s, const EstimationTask& task, std::size_t k) {
  const Coordinates &x = task.x[0], &y = task.y, &z = task.z;
  const Rows all = rows_of(s, task, {&x, &y, &z}), xz = rows_of(s, task, {&x, &z}),
             yz = rows_of(s, task, {&y, &z}), only_z = rows_of(s, task, {&z});
  Values local;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Values d;
    for (std::size_t j = 0; j < all.size(); ++j)
      if (j != i) d.push_back(distance(all[i], all[j]));
    std::sort(d.begin(), d.end());
    const auto psi = [&](const Rows& rows) {
      int nearer = 0;
      for (std::size_t j = 0; j < rows.size(); ++j) nearer += j != i && distance(rows[i], rows[j]) < d[k - 1];
      return boost::math::digamma(double(nearer + 1));
    };
    local.push_back(boost::math::digamma(double(k)) + psi(only_z) - psi(xz) - psi(yz));
  }
  return local;
}

/// The logarithm of the density of the normal distribution fitted to the rows, at each row, without the
/// factor of 2 pi.
Values normal_densities(Rows rows) {
  if (rows[0].empty()) return Values(rows.size(), 0);
  const std::size_t d = rows[0].size(), n = rows.size();
  for (std::size_t c = 0; c < d; ++c) {
    double sum = 0;
    for (const Values& r : rows) sum += r[c];
    for (Values& r : rows) r[c] -= sum / double(n);
  }
  // Holds the covariances with the identity beside them, which elimination turns into their inverse.
  Rows m(d, Values(2 * d, 0));
  for (std::size_t a = 0; a < d; ++a) {
    m[a][d + a] = 1;
    for (std::size_t b = 0; b < d; ++b)
      for (const Values& r : rows) m[a][b] += r[a] * r[b] / double(n);
  }
  double log_determinant = 0;
  for (std::size_t a = 0; a < d; ++a) {
    const double pivot = m[a][a];
    log_determinant += std::log(pivot);
    for (double& v : m[a]) v /= pivot;
    for (std::size_t b = 0; b < d; ++b) {
      const double factor = m[b][a];
      for (std::size_t c = 0; b != a && c < 2 * d; ++c) m[b][c] -= factor * m[a][c];
    }
  }
  Values densities;
  for (const Values& r : rows) {
    double form = 0;
    for (std::size_t a = 0; a < d; ++a)
      for (std::size_t b = 0; b < d; ++b) form += r[a] * m[a][d + b] * r[b];
    densities.push_back(-(log_determinant + form) / 2);
  }
  return densities;
}

Values log_frequencies(const Rows& rows) {
  std::map<Values, double> count;
  for (const Values& r : rows) ++count[r];
  Values logs;
  for (const Values& r : rows) logs.push_back(std::log(count[r] / double(rows.size())));
  return logs;
}

template <class F>
Values log_ratio(const Series& s, const EstimationTask& task, F log_density) {
  const Coordinates &x = task.x[0], &y = task.y, &z = task.z;
  Values local = log_density(rows_of(s, task, {&x, &y, &z}));
  const Values in_z = log_density(rows_of(s, task, {&z})), xz = log_density(rows_of(s, task, {&x, &z})),
               yz = log_density(rows_of(s, task, {&y, &z}));
  for (std::size_t i = 0; i < local.size(); ++i) local[i] += in_z[i] - xz[i] - yz[i];
  return local;
}

/// Compares local values with those of a naive program, and their mean with the estimate. Logarithms of size
/// 1 have errors of 1e-15; quadratic forms and sums of some hundred terms have ten times that.
void expect_local(const Series& s, const EstimationTask& task, const EstimatorOptions& o,
                  const Values& want) {
  Stream stream;
  const Values local = local_values(s, task, o, stream);
  ASSERT_EQ(local.size(), task.times.size());
  for (std::size_t i = 0; i < local.size(); ++i) ASSERT_NEAR(local[i], want[i], 1e-12) << i;
  EXPECT_NEAR(mean(local), estimate(s, task, o, stream).observed(0), 1e-13);
}

TEST(LocalValues, NearestNeighbours) {
  const Series s = coupled(150);
  expect_local(s, transfer(s), {}, naive_ksg(s, transfer(s), 4));
  EstimatorOptions ksg2{.neighbors = 3, .theiler = 2, .algorithm = KsgAlgorithm::ksg2};
  Stream stream;
  EXPECT_NEAR(mean(local_values(s, transfer(s), ksg2, stream)),
              estimate(s, transfer(s), ksg2, stream).observed(0), 1e-13);
}

TEST(LocalValues, SameBitsOnEveryDevice) {
  const Series s = coupled(120, {});
  const EstimatorOptions o{.surrogates = 20};
  Stream one(Device{}, 1), two(Device{}, 2), emulated(parse_device("simt"));
  const Values local = local_values(s, storage_task(s, 1, {2, 1}), o, one);
  EXPECT_EQ(local, local_values(s, storage_task(s, 1, {2, 1}), o, two));
  EXPECT_EQ(local, local_values(s, storage_task(s, 1, {2, 1}), o, emulated));
}

TEST(LocalValues, Gaussian) {
  const Series s = coupled(200);
  const EstimatorOptions o{.estimator = Estimator::gaussian};
  expect_local(s, transfer(s), o, log_ratio(s, transfer(s), normal_densities));
  const EstimationTask several{"mi", {{{0, 1}, {2, 0}}}, {{1, 0}, {1, 1}}, {}, embeddable(s, 1), {0}};
  expect_local(s, several, o, log_ratio(s, several, normal_densities));
}

TEST(LocalValues, GaussianOfNothing) {
  const Values x = normals(1, 0, 50);
  const Series s = series_of({x, Values(50, 3), x});
  Stream stream;
  const EstimatorOptions o{.estimator = Estimator::gaussian};
  const auto of = [&](std::int32_t other) {
    return local_values(s, {"mi", {{{0, 0}}}, {{other, 0}}, {}, embeddable(s, 0), {0}}, o, stream);
  };
  EXPECT_EQ(of(1), Values(50, 0));
  EXPECT_THAT([&] { of(2); },
              testing::ThrowsMessage<InvalidArgument>(testing::HasSubstr("determines another")));
}

// The table with rows 3 1 and 1 3 of 8 observations has the local values ln(3/8 / 1/4) where x and y agree,
// and ln(1/8 / 1/4) where they do not.
TEST(LocalValues, DiscreteByHand) {
  const Series s = series_of({{5, 5, 5, 5, -1, -1, -1, -1}, {0, 0, 0, 7, 0, 7, 7, 7}});
  const EstimationTask task{"mi", {{{0, 0}}}, {{1, 0}}, {}, embeddable(s, 0), {0}};
  const double same = std::log(1.5), other = std::log(0.5);
  expect_local(s, task, {.estimator = Estimator::discrete},
               {same, same, same, other, other, same, same, same});
  Stream stream;
  const EstimatorOptions corrected{.estimator = Estimator::discrete, .bias = Bias::miller_madow};
  EXPECT_THROW(local_values(s, task, corrected, stream), InvalidArgument);
}

TEST(LocalValues, DiscreteAndOrdinal) {
  Series s = coupled(300);
  const Series patterns = ordinal_patterns(s, 3, 1);
  expect_local(patterns, transfer(patterns), {.estimator = Estimator::ordinal},
               log_ratio(patterns, transfer(patterns), log_frequencies));
  for (Values& column : s.values)
    for (double& v : column) v = std::floor(v);
  expect_local(s, transfer(s), {.estimator = Estimator::discrete},
               log_ratio(s, transfer(s), log_frequencies));
}

TEST(MovingMean, ByHand) {
  const Series s = series_of({Values(6, 1)});
  const std::int64_t times[] = {0, 1, 2, 4};
  const double values[] = {1, 2, 3, 4};
  const MovingMean m = moving_mean(s, times, values, 2);
  EXPECT_EQ(m.mean, (Values{1, 1.5, 2.5, 4}));
  EXPECT_EQ(m.samples, (std::vector<std::int64_t>{1, 2, 2, 1}));
}

TEST(MovingMean, EqualsTheSumOfEveryWindow) {
  Series s = series_of({Values(60, 1)});
  for (int t = 0; t < 60; ++t) s.trial.push_back(t < 23 ? 0 : 1);
  std::vector<std::int64_t> times;
  for (std::int64_t t = 0; t < 60; ++t)
    if (t % 7 != 3) times.push_back(t);
  const Values values = normals(2, 0, times.size());
  for (const std::int64_t window : {1, 2, 5, 22, 23, 24, 40, 1000}) {
    const MovingMean m = moving_mean(s, times, values, window);
    for (std::size_t i = 0; i < times.size(); ++i) {
      double sum = 0;
      std::int64_t count = 0;
      for (std::size_t j = 0; j <= i; ++j)
        if (times[j] > times[i] - window && s.trial[std::size_t(times[j])] == s.trial[std::size_t(times[i])])
          sum += values[j], ++count;
      ASSERT_EQ(m.samples[i], count) << window << " " << i;
      ASSERT_NEAR(m.mean[i], sum / double(count), 1e-14) << window << " " << i;
    }
  }
  EXPECT_THROW(moving_mean(s, times, values, 0), InvalidArgument);
}

TEST(LocalTable, ByHand) {
  Series s = series_of({Values(4, 1)});
  const std::int64_t times[] = {1, 3};
  const double values[] = {0.5, -0.25};
  EXPECT_EQ(local_table_csv(s, times, values, {}), "row,local (nats)\n1,0.5\n3,-0.25\n");
  s.trial = {0, 0, 1, 1};
  EXPECT_EQ(
      local_table_csv(
          s, times, values,
          {.first_row = 10, .window = 3, .factor = 2, .units = "bits", .time_step = TimeStep{0.5, "s"}}),
      "row,trial,time (s),local (bits),mean (bits),samples\n11,0,0.5,1,1,1\n13,1,0.5,-0.5,-0.5,1\n")
      << "time counts from the first row of a trial";
}

TEST(EstimatesInParts, HaveTheSameValues) {
  Series s = coupled(80, {});
  const auto same = [&](const EstimatorOptions& o) {
    Stream stream;
    Progress progress(1, "estimates");
    EXPECT_TRUE(estimates_in_parts(transfer(s), o, stream.device()));
    const Estimates whole = estimate(s, transfer(s), o, stream),
                    parts = estimate(s, transfer(s), o, stream, &progress);
    EXPECT_EQ(whole.values, parts.values);
    EXPECT_EQ(whole.different, parts.different);
  };
  same({.surrogates = 40, .surrogate_type = SurrogateMethod::iaaft});
  same({.surrogates = 17, .surrogate_type = SurrogateMethod::phase});
  same({.surrogates = 300, .estimator = Estimator::gaussian});
  for (const auto type : {SurrogateMethod::circular, SurrogateMethod::permute, SurrogateMethod::block})
    same({.surrogates = 150, .algorithm = KsgAlgorithm::ksg2, .surrogate_type = type});
  same({.theiler = 2, .surrogates = 150, .algorithm = KsgAlgorithm::ksg2, .f32 = true});
  s.trial.assign(80, 0);
  std::fill(s.trial.begin() + 40, s.trial.end(), 1);
  same({.surrogates = 90, .algorithm = KsgAlgorithm::ksg2, .surrogate_type = SurrogateMethod::trials});
  s = ordinal_patterns(s, 2, 1);
  same({.surrogates = 300, .surrogate_type = SurrogateMethod::permute, .estimator = Estimator::ordinal});
}

}  // namespace
}  // namespace kolmo
