#include "kolmo/flow/infer/greedy_network.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "kolmo/flow/infer/checkpoint.hpp"
#include "kolmo/io/table.hpp"
#include "tests/flow/greedy_naive.hpp"
#include "tests/flow/greedy_series.hpp"
#include "tests/flow/shared_data.hpp"

// Greedy searches with real estimates.
namespace kolmo {
namespace {

using namespace testing_flow;

Network inferred(const Series& series, const NetworkOptions& o, FinishedWork* work = nullptr,
                 Device device = {}, int threads = 1) {
  Stream stream(device, threads);
  return infer_network(series, o, stream, work, nullptr);
}

std::vector<NaiveSearch::Value> values(const std::vector<Chosen>& chosen) {
  std::vector<NaiveSearch::Value> all;
  for (const Chosen& c : chosen) all.push_back({c.value.variable, c.value.lag});
  return all;
}

/// Everything that a network says, as text with every bit.
std::string all_of(const Network& n, const Series& series) {
  std::vector<std::string> lines;
  const auto name = [&](std::int32_t v) { return series.names[std::size_t(v)]; };
  const auto bits = [](double v) { return nlohmann::json(v).dump(); };
  const auto text = [&](const Chosen& c) {
    return name(c.value.variable) + ":" + std::to_string(c.value.lag) + " " + bits(c.information) + " " +
           bits(c.p_value) + " " + bits(c.given_all) + " " + bits(c.p_given_all) + "; ";
  };
  for (const TargetSelection& t : n.selections) {
    std::string line = name(t.target) + ": " + bits(t.storage) + " ";
    for (const Chosen& c : t.own_past) line += text(c);
    for (const SourceSelection& s : t.sources) {
      for (const Chosen& c : s.chosen) line += text(c);
      line += bits(s.joint) + bits(s.joint_p) + bits(s.first_p) + std::to_string(s.removed.size());
    }
    lines.push_back(line);
  }
  for (const LinkResult& l : n.links) {
    std::string line = name(l.source) + " -> " + name(l.target) + " " + bits(l.value) +
                       std::to_string(l.lag) + " " + bits(l.p_value) + bits(l.p_adjusted) +
                       bits(l.surrogates.mean);
    for (const double v : l.profile) line += " " + bits(v);
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& l : lines) all += l + "\n";
  return all;
}

/// A small system whose couplings are drawn: linear or quadratic, at lags 1 and 2.
Series random_system(std::uint64_t seed, std::size_t variables, std::size_t rows) {
  std::vector<std::vector<double>> x;
  for (std::size_t v = 0; v < variables; ++v) x.push_back(normals(seed, std::int64_t(v), rows));
  const Philox random(seed + 1000);
  const auto draw = [&](std::size_t a, std::size_t b) { return random(a * 16 + b, 0).w[0]; };
  for (std::size_t t = 2; t < rows; ++t)
    for (std::size_t v = 0; v < variables; ++v)
      for (std::size_t u = 0; u < variables; ++u) {
        const std::uint32_t w = draw(v, u);
        if (w % 3) continue;
        const double from = x[u][t - 1 - (w >> 4) % 2];
        x[v][t] += (w >> 8) % 2 ? 0.5 * from : 0.4 * (std::min(from * from, 4.0) - 1);
      }
  for (auto& column : x)
    for (double& v : column) v = std::clamp(v, -8.0, 8.0);
  return series_of(x);
}

TEST(GreedyNetwork, ChoosesWhatANaiveTranscriptionOfTheAlgorithmDoes) {
  int sources = 0, several = 0;
  for (std::uint64_t system = 0; system < 20; ++system) {
    const Series series = random_system(system, 3 + system % 2, 120);
    NetworkOptions o = greedy_options(std::int32_t(3 + system % 2), 2, 39);
    if (system % 4 == 3) o.estimator.surrogate_type = SurrogateMethod::permute;
    if (system % 5 == 4) o.estimator.estimator = Estimator::gaussian;
    const PreparedNetwork network = prepare_network(series, o);
    Stream stream({}, 1);
    const Network n = infer_network(network, stream, nullptr, nullptr);
    for (const TargetSelection& found : n.selections) {
      const NaiveSearch naive(network, found.target);
      const std::string where =
          "system " + std::to_string(system) + ", target " + std::to_string(found.target);
      const SourceSelection& chosen = found.sources.at(0);
      EXPECT_EQ(values(found.own_past), naive.own_past) << where;
      EXPECT_EQ(values(chosen.chosen), naive.sources) << where;
      if (naive.joint_p < 1) {
        EXPECT_EQ(chosen.joint, naive.joint) << where;
        EXPECT_EQ(chosen.joint_p, naive.joint_p) << where;
      }
      for (std::size_t i = 0; i < std::min(chosen.chosen.size(), naive.p_given_all.size()); ++i)
        EXPECT_EQ(chosen.chosen[i].p_given_all, naive.p_given_all[i]) << where;
      sources += !naive.sources.empty(), several += naive.sources.size() > 1;
    }
  }
  EXPECT_GT(sources, 20);
  EXPECT_GT(several, 5);
}

TEST(GreedyNetwork, IsTheSameOnEveryDeviceWithAnyThreadsAndOrderOfColumns) {
  const Series series = driven(4, 150);
  const NetworkOptions o = greedy_options(4, 2, 39);
  const std::string usual = all_of(inferred(series, o), series);
  EXPECT_EQ(all_of(inferred(series, o, nullptr, {}, 2), series), usual);
  NetworkOptions reversed = o;
  std::reverse(reversed.variables.begin(), reversed.variables.end());
  EXPECT_EQ(all_of(inferred(series, reversed), series), usual);
  NetworkOptions small = o;
  small.batches = BatchLimits{.seconds = 1e-9};
  EXPECT_EQ(all_of(inferred(series, small), series), usual);
  NetworkOptions two = greedy_options(2, 1, 19);
  const Series few = driven(2, 70);
  EXPECT_EQ(all_of(inferred(few, two, nullptr, Device{DeviceKind::simt}), few),
            all_of(inferred(few, two), few));
}

TEST(GreedyNetwork, GoesOnFromAnyRound) {
  const Series series = driven(3, 120);
  const NetworkOptions o = greedy_options(3, 2, 39);
  KeptWork whole;
  const std::string usual = all_of(inferred(series, o, &whole), series);
  EXPECT_GT(whole.all().size(), 9u);
  const PreparedNetwork prepared = prepare_network(series, o);
  EXPECT_TRUE(unfinished_targets(prepared, whole.all()).empty());
  for (std::size_t gap = 0; gap < whole.all().size(); ++gap) {
    FinishedWork::Records some = whole.all();
    const auto removed = std::next(some.begin(), std::ptrdiff_t(gap));
    const std::int64_t target = removed->first.first;
    some.erase(removed);
    EXPECT_EQ(unfinished_targets(prepared, some), std::vector<std::int32_t>{std::int32_t(target)});
    KeptWork work(some);
    EXPECT_EQ(all_of(inferred(series, o, &work), series), usual);
    EXPECT_EQ(work.all(), whole.all());
  }
}

TEST(GreedyNetwork, FindsAChainAndNotItsIndirectLinks) {
  for (const Estimator estimator : {Estimator::ksg, Estimator::gaussian}) {
    const Series series = driven(4, 500);
    NetworkOptions o = greedy_options(4, 3, estimator == Estimator::ksg ? 99 : 0);
    o.estimator.estimator = estimator;
    for (const LinkResult& l : inferred(series, o).links)
      EXPECT_EQ(l.significant, l.target == l.source + 1) << l.source << " -> " << l.target;
  }
}

struct SharedSystem {
  nlohmann::json peers;
  Series series;
};

/// Reads a system of the shared data, and what peers select on it.
SharedSystem shared_system(const std::string& name) {
  const std::string path = (shared_data() / "multivariate" / (name + "_s1")).string();
  const Table table = read_table(path + ".csv", {});
  std::vector<std::size_t> columns(table.columns.size());
  std::iota(columns.begin(), columns.end(), std::size_t(0));
  return {nlohmann::json::parse(std::ifstream(path + ".peers.json")),
          make_series(table, columns, {.standardize = Standardize::series, .noise = 0})};
}

// Estimates of the given rounds of IDTxl; the decisions are made by the p-values that it found, whose surrogates are others.
TEST(GreedyNetwork, ObservedStatisticsAreIdtxls) {
  KOLMO_NEED_SHARED_DATA("multivariate/chain_s1.csv");
  int rounds = 0;
  for (const std::string system : {"chain", "driver", "henon", "logistic", "var10"}) {
    const auto [peers, series] = shared_system(system);
    for (const Estimator estimator : {Estimator::ksg, Estimator::gaussian}) {
      const auto& idtxl = peers["idtxl"][estimator == Estimator::ksg ? "JidtKraskovCMI" : "JidtGaussianCMI"];
      NetworkOptions o =
          greedy_options(std::int32_t(series.names.size()), idtxl["settings"]["max_lag_sources"], 99);
      o.estimator.estimator = estimator, o.estimator.surrogate_type = SurrogateMethod::permute;
      o.greedy.compatible = GreedyRules::idtxl, o.p_value = PValue::plain;
      const PreparedNetwork network = prepare_network(series, o);
      std::map<int, std::vector<nlohmann::json>> of_target;
      for (const auto& r : idtxl["maximum_statistics"]) of_target[r["target"]].push_back(r);
      for (const auto& [target, given] : of_target) {
        GreedySearch search(network, target);
        Stream stream({}, 1);
        std::size_t at = 0;
        while (const auto round = search.next()) {
          if (at == given.size()) break;
          ASSERT_EQ(round->tasks.size(), 1u) << system << " " << target;
          EstimatorOptions observed = o.estimator;
          observed.surrogates = 0;
          Estimates e = estimate(series, round->tasks, observed, stream, SurrogateRange{0, 1})[0];
          const double largest = *std::max_element(e.values.begin(), e.values.end());
          EXPECT_NEAR(largest, given[at]["statistic"].get<double>(), 1e-12) << system << " " << target;
          const bool significant = given[at++]["p"].get<double>() < 0.05;
          Estimates made{round->surrogates, std::vector<std::int64_t>(e.values.size(), 99), {}, {}};
          for (const double v : e.values) {
            made.values.push_back(v);
            made.values.resize(made.values.size() + 99, significant ? -1e9 : 1e9);
          }
          search.take({&made, 1});
          ++rounds;
        }
        EXPECT_EQ(at, given.size()) << system << " " << target;
      }
    }
  }
  EXPECT_GT(rounds, 250);
}

// IDTxl's random numbers are others. So the sets are compared of targets all of whose p-values are far from the level.
TEST(GreedyNetwork, ChoosesWhatIdtxlDoesWhereNoTestIsClose) {
  KOLMO_NEED_SHARED_DATA("multivariate/chain_s1.csv");
  int compared = 0, with_sources = 0;
  for (const std::string system : {"chain", "driver", "henon", "logistic", "var10"}) {
    const auto [peers, series] = shared_system(system);
    for (const Estimator estimator : {Estimator::ksg, Estimator::gaussian}) {
      const bool ksg = estimator == Estimator::ksg;
      if (ksg && system != "chain" && system != "driver") continue;  // these take seconds
      const auto& idtxl = peers["idtxl"][ksg ? "JidtKraskovCMI" : "JidtGaussianCMI"];
      NetworkOptions o =
          greedy_options(std::int32_t(series.names.size()), idtxl["settings"]["max_lag_sources"], 200);
      o.estimator.estimator = estimator, o.estimator.surrogate_type = SurrogateMethod::permute;
      o.greedy.compatible = GreedyRules::idtxl, o.p_value = PValue::plain;
      o.greedy.permutations_omnibus = o.greedy.permutations_max_seq = 500;
      std::set<int> close;
      for (const auto& r : idtxl["maximum_statistics"])
        if (const double p = r["p"]; p > 0.015 && p < 0.12) close.insert(int(r["target"]));
      for (const TargetSelection& found : inferred(series, o, nullptr, {}, 2).selections) {
        if (close.contains(found.target)) continue;
        const auto& theirs = idtxl["targets"][std::to_string(found.target)];
        const auto set_of = [](const std::vector<NaiveSearch::Value>& v) {
          return std::set<NaiveSearch::Value>(v.begin(), v.end());
        };
        EXPECT_EQ(set_of(values(found.own_past)),
                  set_of(theirs["own_past"].get<std::vector<NaiveSearch::Value>>()))
            << system << " " << found.target;
        const auto sources = theirs["sources"].get<std::vector<NaiveSearch::Value>>();
        EXPECT_EQ(set_of(values(found.sources.at(0).chosen)), set_of(sources))
            << system << " " << found.target;
        ++compared, with_sources += !sources.empty();
      }
    }
  }
  EXPECT_GT(compared, 15);
  EXPECT_GT(with_sources, 8);
}

}  // namespace
}  // namespace kolmo
