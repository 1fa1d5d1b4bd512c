#include "kolmo/flow/report/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "kolmo/base/error.hpp"
#include "kolmo/flow/report/data.hpp"
#include "kolmo/flow/report/figures.hpp"
#include "kolmo/flow/result/markup.hpp"
#include "tests/flow/network_mock.hpp"
#include "tests/io/temporary_folder.hpp"

namespace kolmo {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const auto from = text.find(open);
  if (from == std::string::npos) return "";
  return text.substr(from + open.size(), text.find(close, from + open.size()) - from - open.size());
}

// The first element that is not closed, or that is closed out of order; "" if there is none.
std::string first_unbalanced(const std::string& html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at)) {
    const bool closes = html[at + 1] == '/';
    std::size_t end = at + 1 + closes;
    while (std::isalnum(static_cast<unsigned char>(html[end]))) ++end;
    const std::string name = html.substr(at + 1 + closes, end - at - 1 - closes);
    for (bool quoted = false; quoted || html[end] != '>'; ++end) quoted ^= html[end] == '"';
    at = end;
    if (name.empty() || name == "meta" || html[end - 1] == '/') continue;
    if (closes) {
      if (open.empty() || open.back() != name) return name;
      open.pop_back();
    } else {
      open.push_back(name);
      if (name == "style" || name == "script") at = html.find("</" + name, at);
    }
  }
  return open.empty() ? "" : open.back();
}

TEST(Report, IsPure) {
  const auto network = mock::network(5, 0.3);
  const auto series = mock::series(5, 120);
  EXPECT_EQ(html_report(network, series), html_report(network, series));
}

TEST(Report, LoadsNothing) {
  const std::string html = html_report(mock::network(12, 0.1), mock::series(12, 199));
  for (const char* part : {"http://", "https://", "src=", "@import", "url(", "<link", "{{"})
    EXPECT_EQ(html.find(part), std::string::npos) << part;
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
}

TEST(Report, EveryLinkIsInEveryFigure) {
  const auto network = mock::network(12, 0.1);
  const std::string html = html_report(network, mock::series(12, 199));
  std::size_t links = 0;
  for (const NetworkLink& link : network.links) links += link.significant;
  ASSERT_GT(links, 3u);
  EXPECT_EQ(count(html, "class=\"cell "), 132u);
  EXPECT_EQ(count(html, "class=\"mark\""), links);
  EXPECT_EQ(count(html, "<g class=\"link\""), links);
  EXPECT_EQ(count(html, "<g class=\"flow\""), links);
  EXPECT_EQ(count(html, "<svg class=\"profile\""), links);
  EXPECT_EQ(count(html, "<tr data-link="), 132u + links);
  EXPECT_EQ(count(html, "<path class=\"line\" d="), 12u);
}

TEST(Report, IsBalancedAtEverySize) {
  for (std::size_t n : {1, 2, 3, 7, 12, 17, 50})
    for (double share : {0.0, 0.15, 1.0})
      EXPECT_EQ(
          first_unbalanced(html_report(mock::network(n, n > 12 ? share / 5 : share), mock::series(n, 60))),
          "")
          << n << " variables, share " << share;
}

TEST(Report, ShowsDerivedValuesAndTotals) {
  auto network = mock::network(2, 0);
  network.variables = {"a", "b"};
  network.links[0] = {1, 0, 0.5, 2, 1 / 1001.0, 0.002, true, {{1, 0.1}, {2, 0.5}}, 0.25, 0.125, 0.4};
  const std::string html = html_report(network, {});
  EXPECT_NE(
      html.find("<td>b</td><td>a</td><td class=\"num\" data-key=\"2\">2</td><td class=\"num\" "
                "data-key=\"0.5\">0.5</td><td class=\"num\" data-key=\"0.25\">0.25</td><td class=\"num\" "
                "data-key=\"2\">2</td><td class=\"num\" data-key=\"0.4\">0.4</td>"),
      std::string::npos);
  EXPECT_NE(html.find(">\u2264 1/1001</td>"), std::string::npos);
  const std::string totals = between(html, "data-file=\"totals\"", "</table>");
  EXPECT_NE(totals.find("<td>b</td><td class=\"num\" data-key=\"0.25\">0.25</td><td class=\"num\">1</td><td "
                        "class=\"num\" data-key=\"0\">0</td><td class=\"num\">0</td>"),
            std::string::npos);
}

TEST(Report, LagsAndGroupsAreShown) {
  auto network = mock::network(3, 1);
  network.time_step = TimeStep{0.25, "ye<ar"};
  network.groups = {{"one", "<two>"}, {1, 0, 1}};
  const std::string html = html_report(network, mock::series(3, 50));
  EXPECT_NE(html.find("4 (1 ye&lt;ar)"), std::string::npos);
  EXPECT_NE(html.find("(a row is 0.25 ye&lt;ar)"), std::string::npos);
  EXPECT_NE(html.find("<span class=\"swatch g1\"></span>&lt;two&gt;"), std::string::npos);
  const std::string first = between(html, "data-row=\"0\"", "</text>");
  EXPECT_NE(first.find(">realcons"), std::string::npos);
  EXPECT_EQ(count(html, "class=\"separator\""), 1u);
  EXPECT_EQ(html.find("<two>"), std::string::npos);
}

TEST(Report, LargeNetworksStaySmall) {
  auto network = mock::network(400, 0.05);
  const std::string html = html_report(network, mock::series(400, 2000));
  EXPECT_LT(html.size(), 5'000'000u);
  EXPECT_EQ(count(html, "<canvas class=\"matrix-canvas\""), 1u);
  EXPECT_EQ(count(html, "class=\"cell "), 0u);
  RecordProperty("bytes", int(html.size()));

  // Every pair has a p-value of its own, as with analytic tests, and names have 24 characters.
  for (std::size_t i = 0; i < network.links.size(); ++i)
    network.links[i].p_value = double(i + 1) / double(network.links.size() + 7),
    network.links[i].p_adjusted = std::sqrt(network.links[i].p_value);
  for (std::string& name : network.variables) name.resize(24, 'n');
  EXPECT_LT(html_report(network, mock::series(400, 2000)).size(), 5'000'000u);
}

TEST(Report, PackedNumbersTakeTheirCharacters) {
  const std::vector<std::uint32_t> codes{0, 1, 63, 64, 4095};
  EXPECT_EQ(packed(codes, 2), "AAABA/BA//");
}

TEST(Report, NamesTheSettings) {
  const std::string html = html_report(mock::network(3, 1), mock::series(3, 50));
  for (const char* part :
       {"kolmo network macrodata.csv --difference log", "0.1.0", "1.23 s", "<dt>Seed</dt><dd>0</dd>",
        "<dt>Device</dt><dd>cpu</dd>", "<dt>Added noise</dt><dd>1e-08</dd>", "measured in nats",
        "null hypothesis", "Benjamini\u2013Hochberg", "lags 1 to 4",
        "1000 surrogates whose source values are randomly permuted"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
}

TEST(Report, SentencesFollowTheOptions) {
  auto network = mock::network(3, 1);
  network.request.correction = Correction::none;
  network.request.estimator.surrogate_type = SurrogateMethod::circular;
  network.request.max_lag = 1;
  network.request.given.text = "cpi,m1";
  network.units = "bits";
  const std::string html = html_report(network, mock::series(3, 50));
  for (const char* part :
       {"measured in bits", "own past and the past of cpi,m1 already tell;", "shifted in time",
        "compares the transfer entropy with that in 1000", "are not adjusted, so about 5\u202f%"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
  EXPECT_EQ(html.find("Each pair is taken by itself"), std::string::npos);
}

TEST(Report, ReproducibleDocumentsNeedNoTimes) {
  auto network = mock::network(3, 1);
  network.seconds.reset();
  const std::string html = html_report(network, mock::series(3, 50));
  EXPECT_EQ(html.find("<dt>Computation"), std::string::npos);
}

TEST(Report, SaysThatNoEdgeSurvived) {
  const std::string html = html_report(mock::network(4, 0), mock::series(4, 50));
  EXPECT_EQ(count(html, "<strong>No link survived</strong>"), 1u);
  EXPECT_EQ(html.find("<g class=\"link\""), std::string::npos);
  EXPECT_EQ(count(html, "class=\"node alone\""), 4u);
}

TEST(Report, OneVariableHasNoPair) {
  EXPECT_NE(html_report(mock::network(1, 0), mock::series(1, 50)).find("There is no pair of variables"),
            std::string::npos);
}

TEST(Report, ShowsWarnings) {
  auto network = mock::network(12, 0);
  network.warnings = {{"unit_root", "a < b: may have a unit root"}};
  const std::string html = html_report(network, {});
  EXPECT_EQ(count(html, "<dt>Unit root</dt><dd>a &lt; b: may have a unit root</dd>"), 1u);
}

TEST(Report, ClaimsNothingThatWasNotTested) {
  auto network = mock::network(4, 0);
  network.request.estimator.surrogates = 0;
  const std::string html = html_report(network, mock::series(4, 50));
  EXPECT_EQ(count(html, "<strong>Nothing was tested.</strong>"), 1u);
  for (const char* claim : {"survived", "significant link", "null hypothesis", "pairs tested"})
    EXPECT_EQ(html.find(claim), std::string::npos) << claim;
}

TEST(Report, HostileTextStaysText) {
  auto network = mock::network(2, 1);
  const std::string hostile = "</script><script>alert(1)</script>\"'&\xe2\x80\xa8 {{css}}";
  network.variables[0] = hostile;
  network.variables[1] = "bad\xff\x01 bytes";
  network.command = hostile;
  network.units = "<b>";
  network.file = network.request.given.text = hostile;
  ReportSeries series = mock::series(2, 30);
  series.names[0] = hostile;
  const std::string html = html_report(network, series);
  EXPECT_EQ(count(html, "</script>"), 2u);
  EXPECT_EQ(html.find("<b>"), std::string::npos);
  EXPECT_EQ(html.find('\xff'), std::string::npos);
  EXPECT_EQ(html.find('\x01'), std::string::npos);
  EXPECT_EQ(first_unbalanced(html), "");
  const std::string data = between(html, "id=\"kolmo-data\">", "</script>");
  EXPECT_EQ(data.find("\u2028"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(data)["variables"][0], hostile);
}

TEST(Report, RejectsWhatItCannotShow) {
  const auto message = [](const NetworkDocument& network) -> std::string {
    try {
      html_report(network, {});
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  auto network = mock::network(2, 1);
  EXPECT_EQ(message(network), "");
  network.links[1].source = 2;
  EXPECT_EQ(message(network), "network document: links[1].source: 2 is not one of 2 variables");
  network = mock::network(2, 1);
  network.targets[0].target = 5;
  EXPECT_EQ(message(network), "network document: targets[0].target: 5 is not one of 2 variables");
  EXPECT_EQ(message({}), "network document: variables: is empty");
  EXPECT_THROW(html_report(mock::network(2, 1), {{"a"}, {}}), InvalidArgument);
}

TEST(Report, MissingNumbersAreDashes) {
  auto network = mock::network(2, 1);
  network.links[0] = {0, 1};
  const std::string html = html_report(network, mock::series(2, 30));
  EXPECT_EQ(html.find("nan"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"num\" data-key=\"\">\u2013</td>"), std::string::npos);
}

std::vector<std::pair<double, double>> points(const std::string& svg) {
  const std::string d = between(svg, "<path class=\"line\" d=\"", "\"");
  std::vector<std::pair<double, double>> out;
  const std::regex point("[ML]([0-9.]+) ([0-9.]+)");
  for (std::sregex_iterator it(d.begin(), d.end(), point), end; it != end; ++it)
    out.push_back({std::stod((*it)[1]), std::stod((*it)[2])});
  return out;
}

TEST(SeriesPlot, LongSeriesKeepTheirExtremes) {
  ReportSeries series{{"x"}, {std::vector<double>(1'000'000, 0.0)}};
  series.values[0][123'457] = 1;
  series.values[0][765'432] = -1;
  const auto drawn = points(figures::series_plot(series));
  EXPECT_LE(drawn.size(), 2000u);
  EXPECT_GE(drawn.size(), 1000u);
  double top = 1e9, bottom = 0;
  for (const auto& [x, y] : drawn) {
    top = std::min(top, y);
    bottom = std::max(bottom, y);
  }
  const std::string svg = figures::series_plot(series);
  EXPECT_EQ(top, std::stod(between(svg, "data-upper=\"", "\"")));
  EXPECT_EQ(bottom, std::stod(between(svg, "data-lower=\"", "\"")));
  EXPECT_TRUE(std::is_sorted(drawn.begin(), drawn.end(), [](auto a, auto b) { return a.first < b.first; }));
}

TEST(SeriesPlot, NanBreaksTheLine) {
  const double nan = std::nan("");
  const auto path = [](std::vector<double> values) {
    return between(figures::series_plot({{"x"}, {std::move(values)}}), "<path class=\"line\" d=\"", "\"");
  };
  EXPECT_EQ(count(path({1, 2, 3, 4, 5}), "M"), 1u);
  EXPECT_EQ(count(path({1, 2, nan, nan, 5}), "M"), 2u);
  EXPECT_EQ(count(path({nan, 2, nan, 4, nan}), "h.1"), 2u);
  std::vector<double> half(10'000, 1.0);
  std::fill(half.begin() + 4000, half.begin() + 6000, nan);
  EXPECT_EQ(count(path(half), "M"), 2u);
  EXPECT_NE(figures::series_plot({{"x"}, {{nan, nan}}}).find("no finite value"), std::string::npos);
  EXPECT_EQ(figures::series_plot({{"x"}, {{2, 2, 2}}}).find("nan"), std::string::npos);
}

TEST(Palette, LightnessIsMonotone) {
  const std::string css = figures::palette_css();
  const std::regex colour("--q\\d+:#(..)(..)(..)");
  std::vector<double> luminance;
  for (std::sregex_iterator it(css.begin(), css.end(), colour), end; it != end; ++it)
    luminance.push_back(0.2126 * std::stoi((*it)[1], nullptr, 16) +
                        0.7152 * std::stoi((*it)[2], nullptr, 16) +
                        0.0722 * std::stoi((*it)[3], nullptr, 16));
  ASSERT_EQ(luminance.size(), 64u);
  EXPECT_TRUE(std::is_sorted(luminance.begin(), luminance.begin() + 32, std::greater<>()));
  EXPECT_TRUE(std::is_sorted(luminance.begin() + 32, luminance.end()));
  EXPECT_EQ(figures::colour_of(-0.1, 1), 0);
  EXPECT_EQ(figures::colour_of(1, 1), figures::kColours - 1);
  EXPECT_EQ(figures::colour_of(std::nan(""), 1), 0);
}

TEST(Markup, NumbersReadWell) {
  EXPECT_EQ(markup::number(-0.01234), "\u22120.0123");
  EXPECT_EQ(markup::number(0), "0");
  EXPECT_EQ(markup::number(std::nan("")), "\u2013");
  EXPECT_EQ(markup::fixed(-0.001, 2), "0.00");
  EXPECT_EQ(markup::fixed(-0.006, 2), "\u22120.01");
  EXPECT_EQ(markup::shorten("größe und mehr", 5), "größ\u2026");
  EXPECT_EQ(markup::shorten("größe", 5), "größe");
  EXPECT_THROW(markup::fill("a {{b}}", {}), InvalidArgument);
  EXPECT_EQ(markup::fill("{{a}}{{b}}", {{"a", "{{b}}"}, {"b", "x"}}), "{{b}}x");
}

// tests/report_browser_test.py opens the files that this test writes. KOLMO_REPORT_DIR names the folder to
// keep them in.
TEST(ReportFile, WrittenForTheBrowser) {
  const char* wanted = std::getenv("KOLMO_REPORT_DIR");
  const testing_io::TemporaryFolder own;
  const std::filesystem::path folder = wanted ? std::string(wanted) : own / "";
  const auto write = [&](const char* name, const NetworkDocument& network, const ReportSeries& series) {
    std::ofstream(folder / name, std::ios::binary) << html_report(network, series);
    EXPECT_GT(std::filesystem::file_size(folder / name), 20'000u);
  };
  write("one.html", mock::network(1, 0), mock::series(1, 300));
  write("two.html", mock::network(2, 1), mock::series(2, 300));
  write("three.html", mock::network(3, 0.5), mock::series(3, 5000));
  write("twelve.html", mock::network(12, 0.13), mock::series(12, 199));
  write("none.html", mock::network(12, 0), mock::series(12, 199));
  write("fifty.html", mock::network(50, 0.04, 10), mock::series(50, 2500));
  write("dense.html", mock::network(50, 0.3), mock::series(50, 500));
  auto hostile = mock::network(5, 0.5, 30);
  hostile.variables = {"</script><script>throw 1</script>", "\"><img src=x onerror=alert(1)>",
                       "a name so long that it cannot fit", "mit Umlaut \u00e4\u00f6\u00fc", "{{js}}\u2028"};
  ReportSeries series = mock::series(5, 300);
  series.names = hostile.variables;
  write("hostile.html", hostile, series);
  auto grouped = mock::network(20, 0.1);
  grouped.time_step = TimeStep{0.25, "year"};
  grouped.groups = {{"north", "south", "no group"}, {}};
  for (std::size_t i = 0; i < 20; ++i) grouped.groups.group_of.push_back(i % 7 == 0 ? 2 : i % 2);
  grouped.variables[3] = "a somewhat longer name of a region";
  write("twenty.html", grouped, mock::series(20, 400));
  auto untested = mock::network(4, 0);
  untested.request.estimator.surrogates = 0;
  for (NetworkLink& link : untested.links)
    link.p_value = link.p_adjusted = link.surrogate_mean = link.surrogate_std = link.surrogate_q95 =
        std::nan("");
  write("untested.html", untested, mock::series(4, 50));
  auto analytic = mock::network(61, 0.05, 2);
  analytic.request.estimator.surrogates = 0, analytic.request.estimator.estimator = Estimator::gaussian;
  analytic.file = "a folder/with_measurements_2024/macrodata_of_1959.csv";
  for (NetworkLink& link : analytic.links)
    link.surrogate_mean = link.surrogate_std = link.surrogate_q95 = std::nan("");
  write("analytic.html", analytic, mock::series(61, 100));
  write("eighty.html", mock::network(80, 0.05, 40), mock::series(80, 300));
}

}  // namespace
}  // namespace kolmo
