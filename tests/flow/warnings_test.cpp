#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/flow/estimate/inspect_series.hpp"
#include "kolmo/flow/result/inspect_network.hpp"
#include "kolmo/flow/test/inspect_test.hpp"
#include "kolmo/flow/test/inspect_value.hpp"
#include "tests/flow/test_series.hpp"

namespace kolmo {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_flow::normals;
using testing_flow::series_of;
using Values = std::vector<double>;

std::vector<std::string> names_of(const std::vector<Warning>& warnings) {
  std::vector<std::string> names;
  for (const Warning& w : warnings) names.push_back(w.name);
  return names;
}

constexpr EstimatorOptions permuted{.surrogates = 100, .surrogate_type = SurrogateMethod::permute};

std::vector<Warning> seen(Values values, EstimatorOptions options = permuted) {
  return inspect(series_of({std::move(values)}), options);
}

/// x(t) = a x(t - 1) + noise.
Values autoregressive(double a, std::size_t n, std::int64_t number = 0) {
  Values x = normals(7, number, n);
  for (std::size_t t = 1; t < n; ++t) x[t] += a * x[t - 1];
  return x;
}

TEST(Warnings, WhiteNoiseHasNone) {
  for (std::int64_t number = 0; number < 20; ++number)
    for (const std::size_t n : {50, 1000}) EXPECT_THAT(names_of(seen(normals(3, number, n))), IsEmpty()) << n;
}

TEST(Warnings, AutocorrelationIsTheVarianceOfACovariance) {
  const auto warnings = seen(autoregressive(0.9, 1000));
  ASSERT_THAT(names_of(warnings), ElementsAre("autocorrelated"));
  // The factor is 1 + 2 sum 0.81^lag = 9.5, so that 1000 rows count as about 105.
  const std::string& text = warnings[0].text;
  EXPECT_THAT(text, HasSubstr("x0 (1000 rows count as "));
  const int rows = std::stoi(text.substr(text.find("as ") + 3));
  EXPECT_GT(rows, 70);
  EXPECT_LT(rows, 160);
  EXPECT_THAT(names_of(seen(autoregressive(0.3, 1000))), IsEmpty());
  EXPECT_THAT(names_of(seen(autoregressive(0.9, 1000),
                            {.surrogates = 100, .surrogate_type = SurrogateMethod::circular})),
              IsEmpty())
      << "circular surrogates keep it";
  EXPECT_THAT(names_of(seen(autoregressive(0.9, 1000), {.surrogates = 0})), IsEmpty()) << "nothing is tested";
}

// 1000 rows of an autoregression with 0.99 count as about ten, so that no kind of surrogate helps.
TEST(Warnings, FewEffectiveRowsAreToldOfEveryMethod) {
  for (const auto method : {SurrogateMethod::circular, SurrogateMethod::block, SurrogateMethod::iaaft}) {
    const EstimatorOptions o{.surrogates = 100, .surrogate_type = method};
    EXPECT_THAT(names_of(seen(autoregressive(0.99, 1000), o)), Contains("few_effective_rows"));
    EXPECT_THAT(names_of(seen(autoregressive(0.9, 1000), o)), IsEmpty());
  }
}

TEST(Warnings, RandomWalksAndTrendsHaveAUnitRoot) {
  int walks = 0;
  for (std::int64_t number = 0; number < 20; ++number)
    walks +=
        testing::Value(names_of(seen(autoregressive(1, 500, number), {})), testing::Contains("unit_root"));
  EXPECT_GE(walks, 17) << "the test rejects a unit root in 5 % of random walks";
  Values trend = normals(5, 0, 300);
  for (std::size_t t = 0; t < trend.size(); ++t) trend[t] = 0.01 * trend[t] + double(t);
  EXPECT_THAT(names_of(seen(trend, {})), ElementsAre("unit_root"));
}

TEST(Warnings, ColumnsOfDatesAreNamed) {
  Values year, quarter, event(60, 0);
  for (int t = 0; t < 60; ++t) year.push_back(1959 + t / 4), quarter.push_back(1 + t % 4);
  const auto warnings = inspect(series_of({year, quarter}), {});
  ASSERT_THAT(names_of(warnings), ElementsAre("counter", "periodic"));
  EXPECT_THAT(warnings[0].text, HasSubstr("x0: "));
  EXPECT_THAT(warnings[1].text, HasSubstr("x1 (every 4 rows): "));
  event[30] = 1;
  EXPECT_THAT(names_of(seen(event, {})), testing::Not(testing::Contains("counter")));
}

TEST(Warnings, RunsAndRepetitions) {
  Values x = normals(11, 0, 400);
  std::fill(x.begin() + 100, x.begin() + 130, 0.25);
  EXPECT_THAT(names_of(seen(x, {})), ElementsAre("constant_run"));
  for (std::size_t t = 0; t < x.size(); ++t) x[t] = std::round(normals(12, 0, 400)[t]);
  EXPECT_THAT(names_of(seen(x, {})), ElementsAre("repeated_values"));
}

// A step is compared with the other steps, not with the values, which may be far from 0.
TEST(Warnings, ACounterHasEqualSteps) {
  Values far = normals(19, 0, 300), clock(300), hours(300);
  for (std::size_t t = 0; t < far.size(); ++t) {
    far[t] = 9.8e8 + 0.02 * far[t];
    clock[t] = 1.7e9 + 0.1 * double(t);
    hours[t] = 738000 + std::round(1e6 * double(t) / 24) / 1e6;  // days with six decimals
  }
  EXPECT_THAT(names_of(seen(far)), IsEmpty());
  EXPECT_THAT(names_of(seen(clock)), ElementsAre("counter"));
  EXPECT_THAT(names_of(seen(hours)), ElementsAre("counter"));
}

TEST(Warnings, HaveNoUnits) {
  Values run = normals(11, 0, 400);
  std::fill(run.begin() + 100, run.begin() + 130, 0.25);
  const std::vector<Values> all{normals(3, 0, 400), autoregressive(0.9, 400), autoregressive(1, 400, 1), run};
  for (const Values& x : all)
    for (const double unit : {1e160, 1e-162, 1e300}) {
      Values scaled = x;
      for (double& v : scaled) v *= unit;
      EXPECT_EQ(names_of(seen(scaled)), names_of(seen(x))) << unit;
    }
}

// A long run anywhere, also at both ends and across a row where one set ends.
TEST(Warnings, LongRunsAreFoundWherever) {
  for (const std::size_t first : {0, 1, 5, 9, 178, 379}) {
    Values x = normals(11, 0, 400);
    std::fill_n(x.begin() + std::ptrdiff_t(first), 21, 0.25);
    EXPECT_THAT(names_of(seen(x, {})), ElementsAre("constant_run")) << first;
    x[first + 10] = NAN;
    EXPECT_THAT(names_of(seen(x, {})), IsEmpty()) << first;
  }
}

TEST(Warnings, APeriodIsTheShortest) {
  Values x;
  for (int t = 0; t < 90; ++t) x.push_back(t % 30 == 0 ? 1 : t % 15 == 0 ? 2 : 0);
  const auto found = seen(x, {});
  ASSERT_THAT(names_of(found), ElementsAre("periodic"));
  EXPECT_THAT(found[0].text, HasSubstr("every 30 rows"));
  x[89] = 3;
  EXPECT_THAT(names_of(seen(x, {})), testing::Not(Contains("periodic")));
}

TEST(Warnings, AreOfRowsWithinOneSet) {
  Values x = normals(17, 0, 200);
  for (std::size_t t = 0; t < x.size(); ++t)
    if (t % 10 == 9) x[t] = NAN;
  EXPECT_THAT(names_of(seen(x)), IsEmpty());
}

// What is estimated of such columns grows with their rows.
TEST(Warnings, AnInfiniteTruthIsTold) {
  Stream stream;
  const auto told = [&](const Values& x, const Values& y, const EstimatorOptions& o = {}) {
    const Series s = series_of({x, y});
    const EstimationTask mi{"mi", {{{0, 0}}}, {{1, 0}}, {}, embeddable(s, 0), {0}};
    return why_infinite(s, mi, 0, estimate(s, mi, o, stream).observed(0), o);
  };
  for (const std::size_t n : {100, 1000, 5000}) {
    const Values x = normals(23, 0, n), noise = normals(23, 1, n);
    const auto of = [&](auto f) {
      Values y;
      for (std::size_t t = 0; t < n; ++t) y.push_back(f(x[t], noise[t]));
      return y;
    };
    for (const auto kind : {Estimator::ksg, Estimator::gaussian}) {
      EXPECT_THAT(told(x, x, {.estimator = kind}), HasSubstr("so that the truth is infinite")) << n;
      const Values line = of([](double v, double) { return 3e5 - 2 * v; });
      EXPECT_THAT(told(x, line, {.estimator = kind}), HasSubstr("so that the truth is infinite")) << n;
    }
    EXPECT_THAT(told(x, of([](double v, double) { return v * v; })), HasSubstr("may be infinite")) << n;
    EXPECT_THAT(told(x, of([](double v, double) { return std::exp(v); })), HasSubstr("may be infinite")) << n;
    EXPECT_THAT(told(of([](double v, double) { return std::sin(3 * v); }), x), HasSubstr("may be infinite"))
        << n;
    for (const double r : {0.0, 0.5, 0.9, 0.99, 0.995})
      for (const auto kind : {Estimator::ksg, Estimator::gaussian, Estimator::discrete}) {
        const bool few = kind == Estimator::discrete;
        const Values y = of([&](double v, double e) {
          const double w = r * v + std::sqrt(1 - r * r) * e;
          return few ? double(w > 0) : w;
        });
        EXPECT_EQ(told(few ? y : x, y, {.estimator = kind}), "") << r << ' ' << n;
      }
  }
}

TEST(Warnings, AnInfiniteTransferEntropyIsTold) {
  Stream stream;
  const Values x = normals(29, 0, 500);
  Values y{0};
  for (std::size_t t = 1; t < x.size(); ++t) y.push_back(-2 * x[t - 1]);
  const Series s = series_of({x, y});
  const auto told = [&](std::int32_t source, std::int32_t target, std::int64_t lag) {
    const EstimationTask task = transfer_entropy_task(s, source, target, {}, {}, {}, lag);
    return why_infinite(s, task, 0, estimate(s, task, {}, stream).observed(0), {}) != "";
  };
  EXPECT_TRUE(told(0, 1, 1));
  EXPECT_FALSE(told(1, 0, 1));
  EXPECT_FALSE(told(0, 1, 2));
}

NetworkOptions options_with(std::int64_t surrogates, Correction correction) {
  NetworkOptions o{.variables = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, .correction = correction};
  o.estimator.surrogates = surrogates, o.estimator.surrogate_type = SurrogateMethod::permute;
  return o;
}

TEST(Warnings, TooFewSurrogatesForTheCorrection) {
  const Series series = series_of(std::vector<Values>(12, normals(1, 0, 20)));
  Network network;
  network.links.resize(132);
  const auto text = [&](std::int64_t surrogates, Correction correction) {
    for (LinkResult& l : network.links) l.surrogate_count = surrogates;
    const auto all = inspect(network, prepare_network(series, options_with(surrogates, correction)));
    return all.empty() ? "" : all.at(0).name + ": " + all[0].text;
  };
  EXPECT_EQ(text(0, Correction::bh), "untested: there are no surrogates, so that no link was tested");
  EXPECT_THAT(text(200, Correction::bh), HasSubstr("only if at least 14 reach it together; 2639 surrogates"));
  EXPECT_THAT(text(200, Correction::bonferroni), HasSubstr("no link can be significant; 2639 surrogates"));
  EXPECT_EQ(text(2639, Correction::bonferroni), "");
  EXPECT_THAT(text(3, Correction::bh), HasSubstr("no link can be significant at 0.05; 2639 surrogates"));
  EXPECT_EQ(text(19, Correction::none), "");
  EXPECT_THAT(text(18, Correction::none), HasSubstr("no link can be significant at 0.05; 19 surrogates"));
  network.links.resize(100000);
  EXPECT_THAT(text(1000, Correction::bh), HasSubstr("only fewer pairs lift this limit"));
}

// 20 rows with up to four past values give 16 embedded rows, which can be shifted by 4 to 12 rows.
TEST(Warnings, FewShiftsLimitThePValue) {
  const Series series = series_of(std::vector<Values>(12, normals(1, 0, 20)));
  Network network;
  network.links.resize(132, {.surrogate_count = 9});
  NetworkOptions o = options_with(1000, Correction::bh);
  o.estimator.surrogate_type = SurrogateMethod::circular;
  const auto warnings = inspect(network, prepare_network(series, o));
  ASSERT_THAT(names_of(warnings), ElementsAre("few_surrogates", "too_few_surrogates"));
  EXPECT_THAT(warnings[0].text,
              HasSubstr("only 9 different circular surrogates, so that no p-value is below 0.1"));
  EXPECT_THAT(warnings[1].text, HasSubstr("allow no more circular shifts; only fewer pairs or more rows"));
}

TEST(Warnings, ANegativeValueIsNeverALink) {
  const Series series = series_of({normals(1, 0, 20), normals(1, 1, 20)});
  Network network;
  network.links = {{.source = 0, .target = 1, .value = -0.1, .p_value = 0.001, .p_adjusted = 0.002}};
  network.links[0].surrogate_count = 1000;
  NetworkOptions options{.variables = {0, 1}};
  options.estimator.surrogates = 1000, options.estimator.surrogate_type = SurrogateMethod::permute;
  const auto warnings = inspect(network, prepare_network(series, options));
  ASSERT_THAT(names_of(warnings), ElementsAre("negative"));
  EXPECT_THAT(warnings[0].text, HasSubstr("x0 -> x1: "));
}

TEST(InspectEstimator, WarnsOfKsg2WithACondition) {
  const Series s = series_of({testing_flow::normals(1, 0, 100), testing_flow::normals(1, 1, 100)});
  const EstimationTask te = transfer_entropy_task(s, 0, 1, {}, {1, 1}, {1, 1}, 1),
                       storage = storage_task(s, 0, {1, 1});
  const auto names = [&](const EstimationTask& task, KsgAlgorithm algorithm) {
    std::string all;
    for (const Warning& w : inspect_estimator(s, task, 0, {.algorithm = algorithm})) all += w.name;
    return all;
  };
  EXPECT_EQ(names(te, KsgAlgorithm::ksg2), "ksg2_biased");
  EXPECT_EQ(names(te, KsgAlgorithm::ksg1), "");
  EXPECT_EQ(names(storage, KsgAlgorithm::ksg2), "") << "there is no condition";
}

TEST(InspectEstimator, WarnsOfMoreStatesThanRows) {
  std::vector<double> symbols;
  for (const double v : testing_flow::normals(2, 0, 2000))
    symbols.push_back(std::floor(std::abs(v) * 1e6) - 10 * std::floor(std::abs(v) * 1e5));
  const Series s = series_of({symbols});
  const auto text = [&](std::int64_t history) {
    const auto found =
        inspect_estimator(s, storage_task(s, 0, {history, 1}), 0, {.estimator = Estimator::discrete});
    return found.empty() ? "" : found[0].name + ": " + found[0].text;
  };
  EXPECT_EQ(text(1), "") << "100 joint states";
  EXPECT_THAT(text(4), testing::AllOf(testing::HasSubstr("undersampled: 1996 rows for"),
                                      testing::HasSubstr("a shorter past")));
}

}  // namespace
}  // namespace kolmo
