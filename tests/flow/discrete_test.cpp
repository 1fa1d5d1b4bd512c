#include "kolmo/flow/estimate/discrete.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "kolmo/flow/data/ordinal.hpp"
#include "kolmo/flow/estimate/inspect_series.hpp"
#include "kolmo/flow/infer/prepare.hpp"
#include "kolmo/knn/permutation.hpp"
#include "tests/flow/test_series.hpp"

namespace kolmo {
namespace {

using namespace testing_flow;
using Values = std::vector<double>;

const EstimatorOptions discrete{.estimator = Estimator::discrete};

EstimationTask mutual(const Series& s, Coordinates x, Coordinates y, Coordinates z = {}) {
  return {"mi", {std::move(x)}, std::move(y), std::move(z), embeddable(s, 0), {0}};
}

double estimated(const Series& s, const EstimationTask& task, Bias bias = Bias::none) {
  Stream stream;
  EstimatorOptions o = discrete;
  o.bias = bias;
  return estimate(s, task, o, stream).observed(0);
}

/// The mean of the estimate over all orders of the rows of x.
double mean_of_orders(Values x, const Values& y, Bias bias) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  double sum = 0, count = 0;
  do {
    Values moved;
    for (const std::size_t i : order) moved.push_back(x[i]);
    const Series s = series_of({moved, y});
    sum += estimated(s, mutual(s, {{0, 0}}, {{1, 0}}), bias), ++count;
  } while (std::next_permutation(order.begin(), order.end()));
  return sum / count;
}

TEST(DiscreteBias, IsTheMeanOverAllOrders) {
  const Values tables[][2] = {{{0, 0, 0, 1, 1, 2}, {5, 5, 6, 6, 6, 6}},
                              {{0, 1, 2, 3, 4, 5}, {0, 0, 0, 1, 1, 1}},
                              {{0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 1, 1}},
                              {{3, 3, 3, 3, 3, 3}, {0, 0, 1, 1, 2, 2}}};
  for (const auto& [x, y] : tables)
    for (const Bias bias : {Bias::none, Bias::miller_madow}) {
      const Series s = series_of({x, y});
      EstimatorOptions o = discrete;
      o.bias = bias;
      EXPECT_NEAR(discrete_bias(s, mutual(s, {{0, 0}}, {{1, 0}}), o), mean_of_orders(x, y, bias), 1e-14);
    }
}

// 3000 rows have too many orders to go through all, so that surrogates are drawn instead.
TEST(DiscreteBias, IsTheMeanOfManySurrogates) {
  Values x = normals(1, 0, 3000), y = normals(1, 1, 3000);
  for (double& v : x) v = std::round(2 * v);
  for (double& v : y) v = std::round(9 * v);
  const Series s = series_of({x, y});
  EstimatorOptions o = discrete;
  o.surrogates = 400, o.surrogate_type = SurrogateMethod::permute;
  for (const Bias bias : {Bias::none, Bias::miller_madow}) {
    o.bias = bias;
    const EstimationTask task = mutual(s, {{0, 0}}, {{1, 0}});
    Stream stream;
    const Summary drawn = summarize(estimate(s, task, o, stream).surrogate(0));
    EXPECT_NEAR(discrete_bias(s, task, o), drawn.mean, 4 * drawn.deviation / std::sqrt(400));
    EXPECT_GT(drawn.mean / drawn.deviation, bias == Bias::none ? 10 : -10);
  }
}

// The table with rows 3 1 and 1 3 of 8 observations has I = 2 (3/8) ln(3/8 / 1/4) + 2 (1/8)
// ln(1/8 / 1/4) = 3/4 ln 3/2 - 1/4 ln 2.
TEST(DiscreteEstimator, TablesByHand) {
  const Series s = series_of({{5, 5, 5, 5, -1, -1, -1, -1}, {0, 0, 0, 7, 0, 7, 7, 7}, Values(8, 3)});
  const double plug_in = 0.75 * std::log(1.5) - 0.25 * std::log(2);
  EXPECT_NEAR(estimated(s, mutual(s, {{0, 0}}, {{1, 0}})), plug_in, 1e-15);
  // 2 + 2 states, and 4 joint ones: K_x + K_y - K_xy - 1 = -1.
  EXPECT_NEAR(estimated(s, mutual(s, {{0, 0}}, {{1, 0}}), Bias::miller_madow), plug_in - 1. / 16, 1e-15);
  EXPECT_EQ(estimated(s, mutual(s, {{0, 0}}, {{2, 0}})), 0) << "a constant";
  EXPECT_NEAR(estimated(s, mutual(s, {{0, 0}}, {{0, 0}})), std::log(2), 1e-15);
  EXPECT_NEAR(estimated(s, mutual(s, {{0, 0}, {1, 0}}, {{0, 0}, {1, 0}})),
              -0.75 * std::log(3. / 8) - 0.25 * std::log(1. / 8), 1e-15)
      << "the joint entropy";
}

TEST(DiscreteEstimator, ExclusiveOr) {
  const Series s = series_of({{0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0}});
  EXPECT_EQ(estimated(s, mutual(s, {{0, 0}}, {{2, 0}})), 0);
  EXPECT_NEAR(estimated(s, mutual(s, {{0, 0}}, {{2, 0}}, {{1, 0}})), std::log(2), 1e-15);
  EXPECT_NEAR(estimated(s, mutual(s, {{0, 0}, {1, 0}}, {{2, 0}})), std::log(2), 1e-15);
}

/// The upper bits of a linear congruential generator. The references were computed in Python from the same
/// numbers.
std::vector<std::uint64_t> congruential(std::size_t n) {
  std::vector<std::uint64_t> values;
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < n; ++i)
    values.push_back((state = state * 6364136223846793005u + 1442695040888963407u) >> 33);
  return values;
}

struct Reference {
  std::vector<Values> columns{5};  // x, y, z, and two that share z
  Reference() {
    constexpr std::size_t n = 200;
    const auto raw = congruential(3 * n);
    for (std::size_t t = 0; t < n; ++t) {
      const double x = double(raw[3 * t] % 2), z = double(raw[3 * t + 2] % 3);
      const double y = raw[3 * t + 1] % 4 == 0 ? 1 : t ? columns[0][t - 1] : 0;
      columns[0].push_back(x), columns[1].push_back(y), columns[2].push_back(z);
      columns[3].push_back(x + (z > 1)), columns[4].push_back(std::fmod(y + z, 3));
    }
  }
};

// The references are those of infomeasure 0.6.3:
// mutual_information(x, y, cond=z, approach="discrete" or "miller_madow"),
// transfer_entropy(x, y, approach="discrete", src_hist_len=1, dest_hist_len=k).
TEST(DiscreteEstimator, AgreesWithInfomeasure) {
  const Series s = series_of(Reference().columns);
  const EstimationTask mi = mutual(s, {{3, 0}}, {{4, 0}}), cmi = mutual(s, {{3, 0}}, {{4, 0}}, {{2, 0}});
  EXPECT_NEAR(estimated(s, mi), 0.09746711577339741, 1e-14);
  EXPECT_NEAR(estimated(s, cmi), 0.008742812729589322, 1e-14);
  EXPECT_NEAR(estimated(s, mi, Bias::miller_madow), 0.08996711577339742, 1e-14);
  EXPECT_NEAR(estimated(s, cmi, Bias::miller_madow), 0.0012428127295893224, 1e-14);
  EXPECT_NEAR(estimated(s, transfer_entropy_task(s, 0, 1, {}, {1, 1}, {1, 1}, 1)), 0.3708321275199747, 1e-14);
  EXPECT_NEAR(estimated(s, transfer_entropy_task(s, 0, 1, {}, {1, 1}, {2, 1}, 1)), 0.38063939251434353,
              1e-14);
}

/// Plug-in entropy of the joint states of columns.
double entropy_of(const std::vector<Values>& columns) {
  std::map<Values, double> count;
  for (std::size_t t = 0; t < columns[0].size(); ++t) {
    Values state;
    for (const Values& c : columns) state.push_back(c[t]);
    ++count[state];
  }
  double h = 0;
  for (const auto& [state, n] : count) {
    const double p = n / double(columns[0].size());
    h -= p * std::log(p);
  }
  return h;
}

TEST(DiscreteEstimator, SurrogatesAgreeWithEntropies) {
  const auto c = Reference().columns;
  const Series s = series_of(c);
  EstimatorOptions o = discrete;
  o.surrogates = 20, o.surrogate_type = SurrogateMethod::block, o.block_length = 14, o.seed = 3;
  Stream stream;
  const Estimates e = estimate(s, mutual(s, {{0, 0}, {2, 0}}, {{4, 0}, {1, 0}}, {{3, 0}}), o, stream);
  EXPECT_TRUE(e.p_values.empty());
  for (std::size_t number = 0; number <= 20; ++number) {
    const SurrogateMap map({SurrogateType::block, 14, 1, 3}, 200, 0, number);
    Values a, b;
    for (std::uint32_t t = 0; t < 200; ++t) a.push_back(c[0][map(t)]), b.push_back(c[2][map(t)]);
    const double want = entropy_of({a, b, c[3]}) + entropy_of({c[4], c[1], c[3]}) -
                        entropy_of({a, b, c[4], c[1], c[3]}) - entropy_of({c[3]});
    EXPECT_NEAR(e.values[number], want, 1e-13);
  }
}

TEST(DiscreteEstimator, BinaryDataGiveAtMostLn2) {
  const auto a = normals(1, 0, 500), b = normals(1, 1, 500);
  Values x, y;
  for (std::size_t t = 0; t < 500; ++t) x.push_back(a[t] > 0), y.push_back(t ? x[t - 1] : b[t] > 0);
  const Series s = series_of({x, y});
  const double storage = estimated(s, storage_task(s, 0, {4, 1}));
  EXPECT_GE(storage, 0);
  EXPECT_LE(storage, 0.05);
  const double te = estimated(s, transfer_entropy_task(s, 0, 1, {}, {}, {}, 1));
  EXPECT_LE(te, std::log(2) + 1e-15);
  EXPECT_GT(te, 0.68);
  EXPECT_LE(estimated(s, mutual(s, {{0, 0}}, {{0, 0}})), std::log(2) + 1e-15);
}

TEST(DiscreteEstimator, ThreadsBatchesAndLabelsChangeNothing) {
  auto c = Reference().columns;
  const Series s = series_of(c);
  Stream one({}, 1), two({}, 2);
  EstimatorOptions o = discrete;
  o.surrogates = 30;
  const std::vector<EstimationTask> tasks{transfer_entropy_task(s, 0, 1, {}, {2, 1}, {2, 1}, 1),
                                          transfer_entropy_task(s, 3, 1, {}, {1, 1}, {1, 1}, 2)};
  const auto together = estimate(s, tasks, o, one);
  for (std::size_t i = 0; i < tasks.size(); ++i)
    EXPECT_EQ(estimate(s, tasks[i], o, two).values, together[i].values);
  for (double& v : c[0]) v = 1e9 - v;
  for (double& v : c[1]) v = v == 0 ? 0.125 : -17;
  const Series relabelled = series_of(c, {.noise = 0.5});
  EXPECT_EQ(estimate(relabelled, tasks[0], o, two).values, together[0].values);
}

TEST(DiscreteEstimator, ManyValuesAreRefused) {
  const Series s = series_of({normals(1, 0, 200), Reference().columns[0]});
  const auto text = [&](const EstimatorOptions& o) -> std::string {
    try {
      check_states(s, std::vector<std::int32_t>{1, 0}, o);
      return "";
    } catch (const InvalidArgument& e) {
      return e.what();
    }
  };
  EXPECT_EQ(text(discrete),
            "test: column 'x0' has 200 different values in 200 rows; --estimator discrete takes few; ksg or "
            "ordinal take continuous ones");
  EXPECT_EQ(text({.estimator = Estimator::ordinal}),
            "test: column 'x0' has 200 different patterns in 200 rows; --estimator ordinal takes few: lower "
            "--order");
  EXPECT_EQ(text({}), "");
  EXPECT_THROW(estimated(s, mutual(s, {{0, 0}}, {{1, 0}})), InvalidArgument);
  NetworkOptions o{.variables = {0, 1}, .estimator = discrete};
  EXPECT_THROW(prepare_network(s, o), InvalidArgument);
}

TEST(DiscreteEstimator, NetworkOfBinarySeries) {
  std::vector<Values> c(3);
  const auto a = normals(6, 0, 600), b = normals(6, 1, 600), d = normals(6, 2, 600);
  for (std::size_t t = 0; t < 600; ++t) {
    c[0].push_back(a[t] > 0), c[2].push_back(d[t] > 0.5);
    c[1].push_back(t > 1 && b[t] > -1 ? c[0][t - 2] : b[t] < -1.4);
  }
  const Series s = series_of(c);
  NetworkOptions o{.variables = {0, 1, 2}, .max_lag = 2, .max_history = 2, .estimator = discrete};
  o.estimator.surrogates = 199, o.correction = Correction::bonferroni;
  Stream stream;
  for (const LinkResult& l : infer_network(s, o, stream, nullptr, nullptr).links) {
    EXPECT_EQ(l.significant, l.source == 0 && l.target == 1) << l.source << l.target << ' ' << l.p_value;
    EXPECT_LE(l.value, std::log(2));
  }
}

TEST(DiscreteEstimator, WarningsNameItWhereItHelps) {
  Values binary, rounded;
  for (const double v : normals(8, 0, 500)) binary.push_back(v > 0);
  for (const double v : normals(8, 1, 500)) rounded.push_back(std::round(v * 200));
  const auto text = [](const Values& v, const EstimatorOptions& o) {
    std::string all;
    for (const Warning& w : inspect(series_of({v}), o)) all += w.name + ": " + w.text;
    return all;
  };
  EXPECT_THAT(text(binary, {}), testing::HasSubstr("--estimator discrete"));
  EXPECT_THAT(text(rounded, {}), testing::HasSubstr("repeated_values"));
  EXPECT_THAT(text(rounded, {}), testing::Not(testing::HasSubstr("--estimator discrete")));
  EXPECT_EQ(text(binary, discrete), "");
}

// Of two equal values, the older one counts as the smaller.
TEST(OrdinalPatterns, ByHand) {
  const Series s = ordinal_patterns(series_of({{1, 2, 3, 2, 1, 1, 1, 5}}), 3, 1);
  const Values& v = s.values[0];
  for (std::size_t t = 0; t < 2; ++t) {
    EXPECT_TRUE(std::isnan(v[t]));
    EXPECT_EQ(sets_of(s)[t], -1);
  }
  EXPECT_EQ(v[2], v[6]) << "1 2 3 and 1 1 1 rise";
  EXPECT_EQ(v[2], v[7]) << "1 1 5";
  const std::set<double> others{v[3], v[4], v[5], v[2]};  // 2 3 2, 3 2 1, 2 1 1, 1 2 3
  EXPECT_EQ(others.size(), 4u);
  EXPECT_TRUE(std::all_of(v.begin() + 2, v.end(), [](double p) { return p >= 0 && p <= 5; }));
}

TEST(OrdinalPatterns, NumberEveryOrderOnce) {
  Values order{0, 1, 2, 3, 4}, all;
  std::set<double> seen;
  do {
    const Series s = ordinal_patterns(series_of({order}), 5, 1);
    seen.insert(s.values[0][4]);
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(seen.size(), 120u);
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), 119);
}

TEST(OrdinalPatterns, StayWithinASet) {
  Values x = normals(3, 0, 30);
  x[10] = NAN;
  const Series s = ordinal_patterns(series_of({x}), 3, 2);
  for (std::size_t t = 0; t < 30; ++t)
    EXPECT_EQ(sets_of(s)[t], t < 4 ? -1 : t < 10 ? 0 : t < 15 ? -1 : 1) << t;
  EXPECT_THROW(ordinal_patterns(series_of({{1, 2, 3, 4}}), 3, 2), InvalidArgument);
  EXPECT_THROW(ordinal_patterns(s, 1, 1), InvalidArgument);
  EXPECT_THROW(ordinal_patterns(s, 9, 1), InvalidArgument);
  EXPECT_THROW(ordinal_patterns(s, 3, 0), InvalidArgument);
}

// The references are those of infomeasure 0.6.3:
// mutual_information(a, b, approach="ordinal", embedding_dim=order, step_size=delay) and
// transfer_entropy(a, b, approach="ordinal", embedding_dim=order, stable=True).
TEST(OrdinalPatterns, AgreeWithInfomeasure) {
  constexpr std::size_t n = 200;
  const auto raw = congruential(3 * n);
  const auto uniform = [&](std::size_t i) { return double(raw[i] % 1000003) / 1000003; };
  std::vector<Values> c(4);
  for (std::size_t t = 0; t < n; ++t) {
    c[0].push_back(uniform(t));
    c[1].push_back(0.5 * uniform(n + t) + (t ? c[0][t - 1] : 0));
    for (std::size_t v = 0; v < 2; ++v) c[2 + v].push_back(std::nearbyint(5 * c[v][t]));
  }
  const Series series = series_of(c);
  const EstimatorOptions o{.estimator = Estimator::ordinal};
  Stream stream;
  const auto mi = [&](std::int64_t order, std::int64_t delay) {
    const Series s = ordinal_patterns(series, order, delay);
    return estimate(s, mutual(s, {{0, 0}}, {{1, 0}}), o, stream).observed(0);
  };
  const auto te = [&](std::int64_t order, std::int32_t source, std::int32_t target) {
    const Series s = ordinal_patterns(series, order, 1);
    return estimate(s, transfer_entropy_task(s, source, target, {}, {}, {}, 1), o, stream).observed(0);
  };
  EXPECT_NEAR(mi(2, 1), 0.008091158745283378, 1e-14);
  EXPECT_NEAR(mi(3, 1), 0.39134739451995293, 1e-14);
  EXPECT_NEAR(mi(3, 2), 0.042366288958109434, 1e-14);
  EXPECT_NEAR(te(2, 0, 1), 0.27398220128542106, 1e-14);
  EXPECT_NEAR(te(3, 0, 1), 0.47064719965423324, 1e-14);
  EXPECT_NEAR(te(4, 0, 1), 0.797407664811506, 1e-14);
  EXPECT_NEAR(te(3, 2, 3), 0.43708128825266435, 1e-14) << "with ties";
  EXPECT_NEAR(te(4, 2, 3), 0.8026275270061418, 1e-14) << "with ties";
}

}  // namespace
}  // namespace kolmo
