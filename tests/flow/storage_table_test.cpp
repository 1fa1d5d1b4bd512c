#include "kolmo/flow/result/storage_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kolmo/flow/report/report.hpp"
#include "kolmo/flow/request/settle.hpp"
#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/flow/result/network_json.hpp"
#include "tests/flow/network_mock.hpp"

// Networks of active information storage alone.
namespace kolmo {
namespace {

using testing::HasSubstr;
using testing::Not;

NetworkDocument document() {
  NetworkDocument d = mock::network(3, 0);
  d.links.clear();
  d.request.method = NetworkMethod::multivariate, d.request.greedy.measure = GreedyMeasure::ais;
  d.request.surrogates.reset(), d.request.embedding.reset(), d.request.history.reset(), d.request.tau.reset();
  d.request = settled(d.request);
  for (NetworkTarget& t : d.targets)
    t.active_information_storage = 0, t.searches = {{{t.target}, {}, {}, 0, 1, 0.25}};
  d.targets[0].own_past = {{0, 3, 0.5, 0.005, 200, 0.4, 0.002}, {0, 1, 0.25, 0.01, 200, 0.25, 0.004}};
  d.targets[0].active_information_storage = 0.75;
  d.targets[0].searches = {{{0}, {}, {}, 0.75, 1 / 501.0, 0.005}};
  d.targets[1].searches = {{{1}, {}, {{1, 2, "omnibus", 0.1, 0.125}}, 0.1, 0.125, 0.01}};
  return d;
}

TEST(StorageTable, HasOneRowForEachVariable) {
  const NetworkDocument d = document();
  EXPECT_EQ(storage_table_csv(d),
            "variable,lags,value,p_value,p_at_floor,surrogates,samples,units\n"
            "realgdp,1 3,0.75,0.001996007984031936,true,500,198,nats\n"
            "realcons,,0,0.125,false,500,198,nats\n"
            "realinv,,0,0.25,false,200,198,nats\n");
  EXPECT_EQ(link_table_csv(d), storage_table_csv(d));
  EXPECT_EQ(storing_variables(d), 1u);
  const auto target = network_json(d)["targets"][0];
  EXPECT_EQ(target["p_value"], 1 / 501.0);
  EXPECT_EQ(target["p_at_floor"], true);
}

TEST(StorageReport, SpeaksOfOwnPastsAndNotOfLinks) {
  NetworkDocument d = document();
  const std::string page = html_report(d, mock::series(3, 50));
  const std::string shown = page.substr(page.find("<body>"), page.find("<script") - page.find("<body>"));
  for (const char* words : {"Information storage in", "<strong>1 of 3</strong> variables stores information",
                            "realgdp stores the most: 0.75 nats at lags 1, 3, p \u2264 1/501",
                            "Active information storage</h2>", "<td>realgdp</td><td>1, 3</td><td>none</td>",
                            "2 (omnibus)", "class=\"timegraph\"", "Each chosen value with its p"})
    EXPECT_THAT(shown, HasSubstr(words));
  for (const char* words : {"ransfer entropy", "link", "Links", "ources", "matrix", "Sent and received",
                            "Lag profiles", "pair of variables", "<dt>Correction"})
    EXPECT_THAT(shown.substr(0, shown.find("id=\"methods\"")), Not(HasSubstr(words)));
  d.targets[0] = d.targets[2], d.targets[0].target = 0;
  EXPECT_THAT(html_report(d, {}), HasSubstr("<strong>No own past was chosen</strong>"));
}

TEST(ReportFile, OwnPastsWrittenForTheBrowser) {
  const NetworkDocument d = document();
  mock::write_page("storage.html", d, mock::series(3, 100));
}

}  // namespace
}  // namespace kolmo
