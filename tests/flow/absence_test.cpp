// Rows that are missing, absent or do not count, link by link.
#include <gmock/gmock.h>

#include <cmath>

#include "kolmo/base/error.hpp"
#include "kolmo/flow/analysis/arrange_rows.hpp"
#include "kolmo/flow/estimate/estimate.hpp"
#include "kolmo/flow/infer/network.hpp"
#include "kolmo/flow/infer/prepare.hpp"
#include "tests/flow/test_series.hpp"

namespace kolmo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_flow::normals;
using testing_flow::series_of;
using testing_flow::table_of;
using Values = std::vector<double>;

constexpr std::size_t rows = 600;

/// x drives y; z is noise.
std::vector<Values> system() {
  Values x = normals(1, 0, rows), y = normals(1, 1, rows), z = normals(1, 2, rows);
  for (std::size_t t = 1; t < rows; ++t) y[t] = 0.5 * y[t] + x[t - 1];
  return {x, y, z};
}

Network network_of(const Series& series, std::vector<std::int32_t> variables) {
  NetworkOptions o;
  o.variables = std::move(variables), o.max_lag = 2, o.estimator.surrogates = 19;
  Stream stream;
  return infer_network(series, o, stream, nullptr, nullptr);
}

const LinkResult& link(const Network& network, std::int32_t source, std::int32_t target) {
  return *std::find_if(network.links.begin(), network.links.end(),
                       [&](const LinkResult& l) { return l.source == source && l.target == target; });
}

TEST(MissingData, ALinkUsesTheRowsOfItsOwnVariables) {
  auto columns = system();
  for (std::size_t t = 100; t < 350; ++t) columns[2][t] = NAN;
  columns[1][50] = NAN;
  const Series series = series_of(columns);
  const Network all = network_of(series, {0, 1, 2});
  const Network pair = network_of(series_of({columns[0], columns[1]}), {0, 1});
  EXPECT_EQ(link(all, 0, 1).value, link(pair, 0, 1).value) << "z is in no row of x -> y";
  EXPECT_EQ(link(all, 0, 1).p_value, link(pair, 0, 1).p_value);
  EXPECT_EQ(link(all, 0, 1).samples, link(pair, 0, 1).samples);
  EXPECT_LT(link(all, 2, 1).samples, link(all, 0, 1).samples - 240);
  std::vector<std::pair<std::int32_t, std::int32_t>> order;
  for (const LinkResult& l : all.links) order.emplace_back(l.source, l.target);
  EXPECT_THAT(order, ElementsAre(std::pair(1, 0), std::pair(2, 0), std::pair(0, 1), std::pair(2, 1),
                                 std::pair(0, 2), std::pair(1, 2)));
}

TEST(MissingData, AColumnWithFewValuesIsNamed) {
  auto columns = system();
  for (std::size_t t = 0; t < rows; ++t)
    if (t % 3) columns[2][t] = NAN;
  try {
    network_of(series_of(columns), {0, 1, 2});
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_THAT(e.what(),
                testing::AllOf(HasSubstr("'x2' has a value in 200 of 600 rows"), HasSubstr("--exclude")));
  }
}

TEST(AbsentRows, AreAsRowsOfMissingValues) {
  auto columns = system();
  Table table = table_of(columns);
  std::vector<std::size_t> kept;
  for (std::size_t t = 0; t < rows; ++t) {
    if (t % 7 == 3 || (t > 200 && t < 260)) {
      for (auto& v : columns) v[t] = NAN;
    } else {
      kept.push_back(t);
      table.steps.push_back(std::int64_t(t));
    }
  }
  std::vector<std::int64_t> steps = std::move(table.steps);
  table.steps.clear();
  table = take_rows(std::move(table), kept);
  table.steps = std::move(steps);
  const std::vector<std::size_t> all{0, 1, 2};
  for (const Transform transform : {Transform::none, Transform::difference}) {
    Preparation p;
    p.noise = 0, p.transform = transform;
    const Series absent = make_series(table, all, p), missing = series_of(columns, p);
    EXPECT_EQ(absent.sets, missing.sets);
    EstimatorOptions o{.theiler = 5, .surrogates = 9};
    Stream stream;
    for (const auto scope : {TheilerScope::recording, TheilerScope::set}) {
      o.theiler_scope = scope;
      const auto estimates = [&](const Series& s) {
        return estimate(s, transfer_entropy_task(s, 0, 1, {}, {1, 1}, {1, 1}, 1), o, stream).values;
      };
      EXPECT_EQ(estimates(absent), estimates(missing));
    }
  }
}

TEST(Where, RowsThatDoNotCountAreStillThePast) {
  Series s = series_of({{1, 2, 3, 4, 5, 6}});
  s.where = {false, false, true, false, true, true};
  EXPECT_THAT(embeddable(s, 1), ElementsAre(2, 4, 5)) << "row 3 is the past of row 4";
  EXPECT_THAT(embeddable(s, 3), ElementsAre(4, 5));
}

Table labelled(const std::vector<std::string>& labels) {
  Table t = table_of({Values(labels.size(), NAN), normals(1, 0, labels.size())});
  t.texts.emplace(0, TextColumn());
  for (const std::string& label : labels) t.texts.at(0).add(label);
  return t;
}

ArrangedRows arranged(Table& t, const std::string& trials, const std::string& time = "none",
                      const std::string& where = "") {
  AnalysisRequest r;
  r.trials.text = trials, r.time.text = time, r.where = where;
  return arrange_rows(t, r);
}

TEST(ArrangedRows, TrialsAreNamedByTextAndPutTogether) {
  Table t = labelled({"b", "a", "b", "a"});
  const Values before = t.columns[1];
  const ArrangedRows rows = arranged(t, "x0");
  EXPECT_THAT(t.trial, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(rows.trial_names, ElementsAre("b", "a"));
  EXPECT_THAT(t.file_row, ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(t.columns[1], ElementsAre(before[0], before[2], before[1], before[3]));
  EXPECT_THAT(rows.columns, ElementsAre(0u));
}

TEST(ArrangedRows, ATrialThatComesAgainIsRefusedUnlessTimeOrdersIt) {
  Table again = labelled({"a", "a", "b", "a", "a", "b"});
  EXPECT_THROW(arranged(again, "x0"), InvalidArgument);
  again = labelled({"a", "a", "b", "a", "a", "b"}), again.columns[1] = {0, 1, 0, 2, 3, 1};
  arranged(again, "x0", "x1");
  EXPECT_THAT(again.trial, ElementsAre(0, 0, 0, 0, 1, 1));
  Table wrong = labelled({"a", "b", "a", "b", "a", "b"});
  wrong.columns[1] = {0, 0, 1, 1, 1, 2};
  try {
    arranged(wrong, "x0", "x1");
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_THAT(e.what(), HasSubstr("row 4")) << "of the file, as rows of trials were put together";
  }
  Table restarted = labelled({"a", "a", "b", "b", "a", "a"});
  restarted.columns[1] = {0, 1, 0, 1, 0, 1};
  EXPECT_THROW(arranged(restarted, "x0", "x1"), InvalidArgument) << "two trials have one label";
}

TEST(ArrangedRows, DatesAreFoundUnlessThereAreSeveral) {
  Table t = labelled({"2024-01-01", "2024-01-02", "2024-01-05"});
  const ArrangedRows found = arranged(t, "", "");
  ASSERT_TRUE(found.time);
  EXPECT_THAT(t.steps, ElementsAre(0, 1, 4));
  EXPECT_THAT(found.notes, testing::Contains(HasSubstr("x0, which holds dates")));
  Table two = labelled({"2024-01-01", "2024-01-02", "2024-01-05"});
  two.texts.emplace(1, two.texts.at(0));
  EXPECT_FALSE(arranged(two, "", "").time);
  Table none = labelled({"2024-01-01", "2024-01-02", "2024-01-05"});
  EXPECT_FALSE(arranged(none, "", "none").time);
}

TEST(ArrangedRows, WhereTakesNumbersAndLabels) {
  Table t = labelled({"DJF", "MAM", "DJF"});
  arranged(t, "", "none", "x0=DJF");
  EXPECT_THAT(t.where, ElementsAre(true, false, true));
  t.columns[1] = {0, 2, 1};
  arranged(t, "", "none", "x1");
  EXPECT_THAT(t.where, ElementsAre(false, true, true));
  EXPECT_THROW(arranged(t, "", "none", "x1=2abc"), InvalidArgument) << "2abc is not 2";
  EXPECT_THROW(arranged(t, "", "none", "x0"), InvalidArgument) << "text is neither true nor false";
  EXPECT_THROW(arranged(t, "", "none", "x0=JJA"), InvalidArgument) << "no row counts";
}

TEST(SurrogatesByTrials, CutLongerTrials) {
  Table t = table_of({normals(1, 0, 50), normals(1, 1, 50)});
  for (std::size_t r = 0; r < 50; ++r) t.trial.push_back(r < 20 ? 0 : r < 35 ? 1 : 2);
  const std::vector<std::size_t> all{0, 1};
  const Series s = make_series(t, all, {});
  const auto cut =
      tested_times(s, embeddable(s, 1), {.surrogates = 9, .surrogate_type = SurrogateMethod::trials});
  EXPECT_EQ(cut.size(), 3u * 14);
  EXPECT_EQ(rows_of_trial(s, cut, "te"), 14);
  EXPECT_EQ(cut[14], 21);
}

}  // namespace
}  // namespace kolmo
