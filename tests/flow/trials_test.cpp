// Trials and gaps, and how surrogates and the Theiler window treat them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/base/error.hpp"
#include "kolmo/flow/estimate/estimate.hpp"
#include "tests/flow/test_series.hpp"

namespace kolmo {
namespace {

using testing_flow::normals;
using testing_flow::series_of;
using testing_flow::sets_of;
using testing_flow::table_of;
using Values = std::vector<double>;

Series trials_of(std::vector<Values> columns, std::size_t rows, Preparation preparation = {}) {
  Table t = table_of(std::move(columns));
  for (std::size_t r = 0; r < t.rows(); ++r) t.trial.push_back(std::int32_t(r / rows));
  std::vector<std::size_t> all;
  for (std::size_t c = 0; c < t.columns.size(); ++c) all.push_back(c);
  return make_series(t, all, preparation);
}

TEST(Trials, AreSetsThatNoEmbeddingOrDifferenceSpans) {
  const Series s = trials_of({{1, 2, 4, 10, 20, 40}}, 3, {.standardize = Standardize::none});
  EXPECT_EQ(s.sets, 2);
  EXPECT_EQ(embeddable(s, 1), (std::vector<std::int64_t>{1, 2, 4, 5}));
  const Series d = trials_of({{1, 2, 4, 10, 20, 40}}, 3,
                             {.transform = Transform::difference, .standardize = Standardize::none});
  EXPECT_EQ(d.sets, 2);
  EXPECT_EQ(d.values[0][1], 2);
  EXPECT_TRUE(std::isnan(d.values[0][2]));  // its difference, 10 - 4, spans two trials
  EXPECT_EQ(d.values[0][3], 10);
  EXPECT_EQ(d.trial, (std::vector<std::int32_t>{0, 0, 1, 1, 1}));
}

TEST(Trials, SetsEndAtMissingRowsToo) {
  const Series s = trials_of({{1, NAN, 4, 10, 20, 40}}, 3);
  EXPECT_EQ(sets_of(s), (std::vector<std::int32_t>{0, -1, 1, 2, 2, 2}));
}

TEST(TheilerTimes, CountRowsOfTheFileAcrossGapsButNotTrials) {
  const Values x{1, 2, NAN, 4, 5, 6};
  EstimatorOptions o{.theiler = 10};
  const std::vector<std::int64_t> rows{0, 1, 3, 4, 5};
  EXPECT_EQ(theiler_times(series_of({x}), rows, o), rows);
  EXPECT_EQ(theiler_times(trials_of({x}, 4), rows, o), (std::vector<std::int64_t>{0, 1, 3, 14, 15}));
  o.theiler_scope = TheilerScope::set;
  EXPECT_EQ(theiler_times(series_of({x}), rows, o), (std::vector<std::int64_t>{0, 1, 13, 14, 15}));
  EXPECT_TRUE(theiler_times(series_of({normals(1, 0, 6)}), {}, o).empty()) << "one set needs no times";
}

EstimationTask mi_task(const Series& s) { return {"mi", {{{0, 0}}}, {{1, 0}}, {}, embeddable(s, 0), {0}}; }

// The two series are smooth and independent. A tenth of the rows is missing. A Theiler window that held only
// within sets would leave in most of the rows that are near in time, and with them the dependence that comes
// from smoothness alone.
TEST(TheilerTimes, AGapDoesNotRaiseMutualInformation) {
  Values x = normals(1, 0, 1000), y = normals(1, 1, 1000);
  for (Values* v : {&x, &y})
    for (int twice = 0; twice < 2; ++twice)
      for (std::size_t t = 1; t < v->size(); ++t) (*v)[t] = 0.98 * (*v)[t - 1] + 0.02 * (*v)[t];
  Stream stream;
  const auto value = [&](EstimatorOptions o) {
    const Series s = series_of({x, y});
    return estimate(s, mi_task(s), o, stream).observed(0);
  };
  const double whole = value({.theiler = 150});
  const Values missing = normals(1, 2, x.size());
  for (std::size_t t = 0; t < x.size(); ++t)
    if (missing[t] > 1.28) x[t] = NAN;
  const double gaps = value({.theiler = 150}),
               within = value({.theiler = 150, .theiler_scope = TheilerScope::set});
  EXPECT_NEAR(gaps, whole, 0.1);
  EXPECT_GT(within, gaps + 0.3);
}

// Each trial has a level. Two series with the same levels depend on each other between trials only. With
// permuted rows, any two series with levels would seem dependent; with permuted trials they do if the levels
// are the same, and not if they are independent.
TEST(TrialSurrogates, KeepTrialsWhole) {
  const std::size_t trials = 12, rows = 20;
  const Values level = normals(3, 0, trials), other = normals(3, 1, trials), a = normals(3, 2, trials * rows),
               b = normals(3, 3, trials * rows);
  Values x, same, different;
  for (std::size_t r = 0; r < trials * rows; ++r) {
    x.push_back(3 * level[r / rows] + a[r]);
    same.push_back(3 * level[r / rows] + b[r]);
    different.push_back(3 * other[r / rows] + b[r]);
  }
  const EstimatorOptions o{.surrogates = 99, .surrogate_type = SurrogateMethod::trials};
  Stream stream;
  const auto p = [&](const Values& y, SurrogateMethod method) {
    const Series s = trials_of({x, y}, rows);
    EstimatorOptions with = o;
    with.surrogate_type = method;
    const Estimates e = estimate(s, mi_task(s), with, stream);
    int larger = 0;
    for (const double v : e.surrogate(0)) larger += v >= e.observed(0);
    return (1 + larger) / 100.;
  };
  EXPECT_LE(p(same, SurrogateMethod::trials), 0.02);
  EXPECT_GT(p(different, SurrogateMethod::trials), 0.05);
  EXPECT_LE(p(different, SurrogateMethod::permute), 0.02);
}

TEST(TrialSurrogates, RefuseWhatTheyCannotRearrange) {
  const EstimatorOptions o{.surrogates = 9, .surrogate_type = SurrogateMethod::trials};
  Stream stream;
  const auto message = [&](const Series& s) -> std::string {
    try {
      estimate(s, mi_task(s), o, stream);
    } catch (const InvalidArgument& e) {
      return e.what();
    }
    return "";
  };
  Values x = normals(1, 0, 40);
  const Values y = normals(1, 1, 40);
  EXPECT_THAT(message(series_of({x, y})), testing::HasSubstr("mi: surrogates by trials need trials"));
  EXPECT_THAT(message(trials_of({x, y}, 40)), testing::HasSubstr("need two trials or more"));
  EXPECT_THAT(message(trials_of({x, y}, 15)),
              testing::HasSubstr("trial 2 has 10 embedded rows and those before it 15"));
  x[3] = NAN;
  EXPECT_THAT(message(trials_of({x, y}, 20)), testing::HasSubstr("need equally many"));
}

TEST(Surrogates, ThatCannotBeMadeAreRefused) {
  const Series s = series_of({normals(1, 0, 40), normals(1, 1, 40), normals(1, 2, 40)});
  Stream stream;
  EXPECT_THROW(
      estimate(s, mi_task(s), {.surrogates = 9, .block_length = 40, .surrogate_type = SurrogateMethod::block},
               stream),
      InvalidArgument);
  EstimationTask two = mi_task(s);
  two.x = {{{0, 0}, {2, 0}}};
  EXPECT_THROW(estimate(s, two, {.surrogates = 9, .surrogate_type = SurrogateMethod::iaaft}, stream),
               InvalidArgument);
  EXPECT_EQ(estimate(s, two, {.surrogates = 9, .surrogate_type = SurrogateMethod::phase}, stream)
                .surrogate(0)
                .size(),
            9u);
}

TEST(Surrogates, AreAsManyAsThereAreShifts) {
  const Series s = series_of({normals(1, 0, 40), normals(1, 1, 40)});
  Stream stream;
  const Estimates e = estimate(s, mi_task(s), {.surrogates = 100, .min_shift = 10}, stream);
  EXPECT_EQ(e.surrogate(0).size(), 21u);  // the shifts 10 to 30
  const EstimatorOptions o = settled({.surrogates = 100}, s, 3);
  EXPECT_EQ(o.min_shift, 4) << "at least the embedding";
  EXPECT_EQ(settled({.surrogates = 100}, s, 30).min_shift, 2) << "at most a quarter of ten rows";
}

}  // namespace
}  // namespace kolmo
