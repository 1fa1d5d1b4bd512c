#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "kolmo/flow/report.hpp"

// Documents of the shape that `kolmo network --out` writes, with made-up numbers, for the tests of report and
// exports.
namespace kolmo::mock {

inline std::vector<std::string> names(std::size_t n) {
  const std::vector<std::string> macro{"realgdp", "realcons", "realinv", "realgovt", "realdpi", "cpi",
                                       "m1",      "tbilrate", "unemp",   "pop",      "infl",    "realint"};
  if (n <= macro.size()) return {macro.begin(), macro.begin() + static_cast<std::ptrdiff_t>(n)};
  std::vector<std::string> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back("region " + std::to_string(i + 1));
  return out;
}

inline nlohmann::json network(std::size_t n, double share_of_edges, int max_lag = 4) {
  std::mt19937 random(7);
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  nlohmann::json links = nlohmann::json::array(), targets = nlohmann::json::array();
  for (std::size_t target = 0; target < n; ++target) {
    targets.push_back({{"target", target},
                       {"history", 1 + target % 3},
                       {"tau", 1},
                       {"samples", 198},
                       {"active_information_storage", 0.4 + uniform()}});
    for (std::size_t source = 0; source < n; ++source) {
      if (source == target) continue;
      const bool significant = uniform() < share_of_edges;
      const int best = 1 + static_cast<int>(uniform() * max_lag);
      const double value = significant ? 0.06 + 0.3 * uniform() * uniform() : 0.05 * uniform() - 0.01;
      nlohmann::json profile = nlohmann::json::array();
      for (int lag = 1; lag <= max_lag; ++lag)
        profile.push_back(
            {{"lag", lag},
             {"value", lag == best ? value : value - 0.03 - 0.5 * std::abs(value) * uniform()}});
      const double p = significant ? (1 + std::floor(2 * uniform())) / 1001 : 0.02 + 0.98 * uniform();
      links.push_back({{"source", source},
                       {"target", target},
                       {"value", value},
                       {"lag", best},
                       {"p_value", p},
                       {"p_adjusted", std::min(1.0, p * 6)},
                       {"significant", significant},
                       {"profile", profile},
                       {"surrogate_mean", 0.01},
                       {"surrogate_std", 0.02},
                       {"surrogate_q95", 0.045}});
    }
  }
  return {{"measure", "network"},
          {"kolmo_version", "0.1.0"},
          {"command",
           "kolmo network macrodata.csv --difference log --max-lag 4 --surrogates 1000 --seed 0 --report "
           "network.html"},
          {"created", "2026-11-20T10:00:00Z"},
          {"device", "cpu"},
          {"seconds", 1.234},
          {"options",
           {{"file", "macrodata.csv"},
            {"max_lag", max_lag},
            {"surrogates", 1000},
            {"surrogate_type", "permute"},
            {"alpha", 0.05},
            {"correction", "bh"},
            {"neighbors", 4},
            {"algorithm", "ksg1"},
            {"theiler", 0},
            {"standardize", "columns"},
            {"noise", 1e-8},
            {"seed", 0},
            {"units", "nats"},
            {"p_value_convention", "(1+count)/(1+S)"}}},
          {"variables", names(n)},
          {"samples", 199},
          {"units", "nats"},
          {"targets", targets},
          {"links", links}};
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

}  // namespace kolmo::mock
