#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kolmo/flow/report/figures.hpp"
#include "kolmo/flow/report/report.hpp"
#include "kolmo/flow/request/settle.hpp"
#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/flow/result/methods.hpp"
#include "kolmo/flow/result/network_json.hpp"
#include "tests/flow/network_mock.hpp"

// Requests and documents of greedy networks.
namespace kolmo {
namespace {

using testing::HasSubstr;
using testing::Not;

NetworkRequest request(NetworkMethod method = NetworkMethod::multivariate) {
  NetworkRequest r;
  r.method = method;
  return r;
}

TEST(GreedyRequest, IsSettledByWhatIdtxlsUsersKnow) {
  const NetworkRequest r = settled(request());
  EXPECT_EQ(r.greedy.permutations_max_stat, 200);
  EXPECT_EQ(r.greedy.permutations_min_stat, 200);
  EXPECT_EQ(r.greedy.permutations_omnibus, 500);
  EXPECT_EQ(r.greedy.permutations_max_seq, 500);
  EXPECT_EQ(r.greedy.alpha_min_stat, 0.05);
  EXPECT_EQ(r.greedy.max_lag_target, r.max_lag);
  EXPECT_EQ(r.estimator.surrogates, 200);
  EXPECT_EQ(options_json(settled(r)), options_json(r)) << "settling it again changes nothing";
  NetworkRequest all = request();
  all.surrogates = 99, all.greedy.permutations_omnibus = 300;
  all = settled(all);
  EXPECT_EQ(all.greedy.permutations_max_seq, 99);
  EXPECT_EQ(all.greedy.permutations_omnibus, 300);
  NetworkRequest gaussian = request();
  gaussian.estimator.estimator = Estimator::gaussian;
  EXPECT_TRUE(settled(gaussian).estimator.tested_analytically());
  NetworkRequest theirs = request();
  theirs.greedy.compatible = GreedyRules::idtxl;
  theirs = settled(theirs);
  EXPECT_EQ(theirs.estimator.surrogate_type, SurrogateMethod::permute);
  EXPECT_EQ(theirs.p_value, PValue::plain);
}

TEST(GreedyRequest, RefusesOptionsOfTheOtherMethod) {
  const auto refused = [](const NetworkRequest& r, const char* mentions) {
    try {
      settled(r);
      FAIL() << mentions;
    } catch (const InvalidArgument& e) {
      EXPECT_THAT(e.what(), HasSubstr(mentions));
    }
  };
  NetworkRequest r = request();
  r.source.history = 2;
  refused(r, "--source-history is for --method pairwise");
  r = request(NetworkMethod::pairwise), r.greedy.max_conditions = 3;
  refused(r, "--max-conditions is for --method multivariate or bivariate");
  r = request(), r.surrogates = 0;
  refused(r, "--surrogates 0");
  r = request(), r.greedy.min_lag = 0;
  refused(r, "--min-lag 0");
  r = request(), r.greedy.min_lag = 9;
  refused(r, "--min-lag");
  r = request(), r.greedy.permutations_min_stat = 0;
  refused(r, "--permutations-");
}

NetworkDocument document() {
  NetworkDocument d = mock::network(3, 0);
  d.request = settled(request());
  for (NetworkLink& link : d.links) link.lag = 2;
  NetworkLink& found = d.links[0];
  found.significant = true, found.lags = {1, 2};
  d.targets[0].own_past = {{0, 3, 0.5, 0.005, 200, 0, 0}};
  d.targets[0].searches = {{{1, 2},
                            {{1, 2, 0.25, 0.01, 200, 0.125, 0.002}, {1, 1, 0.1, 0.02, 200, 0.1, 0.004}},
                            {{2, 1, "max_seq", 0.05, 0.25}},
                            0.375,
                            0.002,
                            0.01}};
  return d;
}

TEST(GreedyDocument, SaysWhatWasChosenInItsOrder) {
  const NetworkDocument d = document();
  const auto j = network_json(d);
  const auto& t = j["targets"][0];
  EXPECT_EQ(t["own_past"][0]["lag"], 3);
  ASSERT_EQ(t["sources"].size(), 2u);
  EXPECT_EQ(t["sources"][0]["variable"], "realcons");
  EXPECT_EQ(t["sources"][0]["value_given_all"], 0.125);
  EXPECT_EQ(t["removed"][0]["test"], "max_seq");
  EXPECT_EQ(t["joint_value"], 0.375);
  EXPECT_EQ(j["links"][0]["lags"], (std::vector<int>{1, 2}));
  EXPECT_THAT(link_table_csv(d), HasSubstr("source,target,lag,lags,value"));
  EXPECT_THAT(link_table_csv(d), HasSubstr(",2,1 2,"));
  const std::string page = html_report(d, {});
  EXPECT_THAT(page, HasSubstr("realcons:2, realcons:1"));
  EXPECT_THAT(page, HasSubstr("realinv:1 (max_seq)"));
}

TEST(GreedyDocument, TheTimeGraphHasAnArrowForEveryChosenLag) {
  NetworkDocument d = document();
  const auto arrows = [](const std::string& svg, const std::string& kind) {
    int found = 0;
    for (auto at = svg.find(kind); at != std::string::npos; at = svg.find(kind, at + 1)) ++found;
    return found;
  };
  const std::string svg = figures::time_graph(d);
  EXPECT_EQ(arrows(svg, "class=\"flow\""), 2) << "lags 1 and 2 of the one link";
  EXPECT_EQ(arrows(svg, "class=\"own\""), 1);
  EXPECT_EQ(arrows(svg, "<circle"), 3 * 4) << "three variables, now and at three lags";
  EXPECT_THAT(svg, HasSubstr("from 1 row before"));
  EXPECT_THAT(html_report(d, {}), HasSubstr("grey ones are of the target"));
  d.links[0].lags = {1000};
  EXPECT_EQ(figures::time_graph(d), "") << "too many columns";
  d.links[0].significant = false;
  EXPECT_EQ(figures::time_graph(d), "");
}

TEST(GreedyDocument, TheReportShowsAllLagsOfALinkAndItsCommand) {
  NetworkDocument d = document();
  d.links[0].command = "kolmo te x.csv --source-lags 1,2";
  const std::string page = html_report(d, {});
  EXPECT_THAT(page, HasSubstr("<th scope=\"col\">Lags</th>"));
  EXPECT_THAT(page, HasSubstr("<td>realcons</td><td>realgdp</td><td>1, 2</td>"));
  EXPECT_THAT(page, HasSubstr("at lags 1, 2, adjusted p"));
  EXPECT_THAT(page,
              HasSubstr("<dt>realcons \u2192 realgdp, lags 1, 2</dt><dd><pre tabindex=\"0\">kolmo te x.csv "
                        "--source-lags 1,2</pre></dd>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"num\" data-key=\"0.125\">0.125</td><td class=\"num\" "
                              "data-key=\"0.002\">\u2264 1/501</td>"))
      << "the value at lag 2, given all others";
  d.time_step = {0.25, "year"};
  EXPECT_THAT(html_report(d, {}), HasSubstr("<td>1, 2 (0.25, 0.5 year)</td>"));
}

TEST(GreedyDocument, ReorderingVariablesKeepsWhatWasChosen) {
  NetworkDocument d = document();
  d.groups = {{"a", "b"}, {1, 0, 0}};  // the first variable comes last
  EXPECT_THAT(html_report(d, {}), HasSubstr("realcons:2, realcons:1"));
}

TEST(GreedyDocument, MethodsSayHowItWasChosenAndTested) {
  NetworkDocument d = document();
  const std::string text = methods_text(d);
  for (const char* words : {"Lizier and Rubinov 2012", "200 surrogates", "500 surrogates",
                            "Westfall and Young", "Benjamini and Bogomolov 2014", "at lags of 1 to 5 rows"})
    EXPECT_THAT(text, HasSubstr(words));
  EXPECT_THAT(text, Not(HasSubstr("largest over these lags")));
  const auto keys = [](const NetworkDocument& of) {
    std::string all;
    for (const Reference& r : references(of)) all += std::string(r.key) + " ";
    return all;
  };
  EXPECT_THAT(keys(d), HasSubstr("faes2011 lizier2012multivariate novelli2019 besag1991 westfall1993"));
  d.request.greedy.compatible = GreedyRules::idtxl;
  EXPECT_THAT(methods_text(d), HasSubstr("rank by rank as IDTxl does"));
  EXPECT_THAT(keys(d), HasSubstr("benjamini2001"));
  EXPECT_THAT(keys(d), Not(HasSubstr("westfall1993")));
}

TEST(ReportFile, ChosenValuesWrittenForTheBrowser) {
  NetworkDocument d = document();
  d.links[0].command = "kolmo te macrodata.csv --source realcons --target realgdp --source-lags 1,2";
  mock::write_page("chosen.html", d, mock::series(3, 100));
}

}  // namespace
}  // namespace kolmo
