#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "kolmo/flow/report/report.hpp"

// Networks with made-up results, for the tests of report and exports.
namespace kolmo::mock {

inline std::vector<std::string> names(std::size_t n) {
  const std::vector<std::string> macro{"realgdp", "realcons", "realinv", "realgovt", "realdpi", "cpi",
                                       "m1",      "tbilrate", "unemp",   "pop",      "infl",    "realint"};
  if (n <= macro.size()) return {macro.begin(), macro.begin() + static_cast<std::ptrdiff_t>(n)};
  std::vector<std::string> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back("region " + std::to_string(i + 1));
  return out;
}

inline NetworkDocument network(std::size_t n, double share_of_links, int max_lag = 4) {
  std::mt19937 random(7);
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  NetworkDocument d;
  for (std::size_t target = 0; target < n; ++target) {
    d.targets.push_back({target, 1 + int(target % 3), 1, 198, 0.4 + uniform()});
    for (std::size_t source = 0; source < n; ++source) {
      if (source == target) continue;
      NetworkLink link{source, target};
      link.significant = uniform() < share_of_links;
      link.lag = 1 + static_cast<int>(uniform() * max_lag);
      link.value = link.significant ? 0.06 + 0.3 * uniform() * uniform() : 0.05 * uniform() - 0.01;
      for (int lag = 1; lag <= max_lag; ++lag)
        link.profile.push_back(
            {lag, lag == link.lag ? link.value : link.value - 0.03 - 0.5 * std::abs(link.value) * uniform()});
      link.p_value =
          link.significant ? (1 + std::floor(2 * uniform())) / 1001 : std::ceil(20 + 981 * uniform()) / 1001;
      link.p_adjusted = std::min(1.0, link.p_value * 6);
      link.surrogate_mean = 0.01, link.surrogate_std = 0.02, link.surrogate_q95 = 0.045;
      d.links.push_back(link);
    }
  }
  d.version = "0.1.0";
  d.command =
      "kolmo network macrodata.csv --difference log --max-lag 4 --surrogates 1000 --seed 0 --report "
      "network.html";
  d.device = "cpu";
  d.seconds = 1.234;
  d.file = "macrodata.csv";
  d.request.max_lag = max_lag;
  d.request.embedding = EmbeddingRule::given, d.request.history = d.request.tau = 1;
  d.request.surrogates = d.request.estimator.surrogates = 1000;
  d.request.estimator.surrogate_type = SurrogateMethod::permute;
  d.variables = names(n);
  d.rows = 199;
  return d;
}

inline ReportSeries series(std::size_t n, std::size_t samples) {
  std::mt19937 random(11);
  ReportSeries out{names(n), {}};
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> values(samples);
    double state = 0;
    for (double& value : values)
      value = state = (0.2 + 0.7 * static_cast<double>(i % 4) / 3) * state +
                      static_cast<double>(random()) / 2147483648.0 - 1;
    if (i == 1 && samples > 20) values[samples / 2] = values[samples / 2 + 1] = std::nan("");
    out.values.push_back(values);
  }
  return out;
}

/// Writes a report for tests/report_browser_test.py, if it asks for one.
inline void write_page(const std::string& name, const NetworkDocument& network, const ReportSeries& series) {
  const std::string page = html_report(network, series);
  if (const char* folder = std::getenv("KOLMO_REPORT_DIR"))
    std::ofstream(std::string(folder) + "/" + name, std::ios::binary) << page;
}

}  // namespace kolmo::mock
