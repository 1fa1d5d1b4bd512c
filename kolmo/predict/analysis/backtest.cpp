#include "kolmo/predict/analysis/backtest.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "kolmo/base/error.hpp"
#include "kolmo/predict/record/event_files.hpp"

namespace kolmo::predict {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t horizons[] = {1, 5, 10}, longest = 10, first_origin = 10, least_distance = 5;

/// The mean CRPS and coverage of a run, by forecaster and horizon.
using OfRun =
    std::map<std::pair<std::string, std::size_t>, std::array<double, 3>>;  // sums of CRPS and covered, count

Plan plan_of_run(const Run& run, std::int64_t last) {
  std::vector<double> rates;  // one for each step: a row stands for the steps since the row before
  double rate = 1;
  std::int64_t step = last;
  for (const LogRow& row : run.log.rows()) {
    if (!std::isnan(row.rate)) rate = row.rate;
    for (; step < row.step; ++step) rates.push_back(rate);
  }
  return Plan::rates(std::move(rates));
}

OfRun scores_of(const Run& run, const Forecasters& forecasters, const StoreStanding* standing,
                std::size_t& origins) {
  OfRun sums;
  const auto& loss = run.log.blocks().loss;
  Arena arena(forecasters, longest, least_distance, standing);
  TrainingLog log(run.log.length(), run.log.skip());
  std::size_t next = first_origin;
  for (const LogRow& row : run.log.rows()) {
    const std::size_t before = log.blocks().loss.size();
    log.append(row);
    const std::size_t origin = log.blocks().loss.size();
    if (origin == before) continue;
    arena.update(log);
    if (origin < next || origin + longest > loss.size() || !log.blocks().knows(origin - 1)) continue;
    next = origin + std::max(least_distance, loss.size() / 16);
    ++origins;
    const Plan plan = plan_of_run(run, log.last_step());
    const auto score = [&](const std::string& name, const Forecast& forecast) {
      for (const std::size_t h : horizons) {
        if (!run.log.blocks().knows(origin + h - 1)) continue;
        Quantiles q = forecast.quantiles[h - 1];
        for (double& v : q) v = std::log(v);
        const double came = std::log(loss[origin + h - 1]);
        auto& sum = sums[{name, h}];
        sum[0] += crps_of(q, came), sum[1] += q.front() <= came && came <= q.back(), ++sum[2];
      }
    };
    score("driver", arena.forecast(log, plan, longest));
    const Seen seen{log.blocks(), origin};
    for (const auto& f : forecasters)
      if (f->able(seen))
        score(std::string(f->name()), arena.forecast_by(std::string(f->name()), log, plan, longest));
  }
  return sums;
}

double mean_of_last(std::span<const double> v, std::size_t n) {
  const auto last = v.last(std::min(n, v.size()));
  return std::accumulate(last.begin(), last.end(), 0.) / double(last.size());
}

void add_ranks(BacktestResult& result, const std::vector<const Run*>& runs, const Forecasters& forecasters) {
  std::map<std::string, std::vector<double>> early;
  std::vector<double> final;
  std::vector<std::string> order;
  const auto add = [&](const std::string& name, double value) {
    if (!early.contains(name)) order.push_back(name);
    early[name].push_back(value);
  };
  for (const Run* run : runs) {
    const Blocks& blocks = run->log.blocks();
    const std::size_t n = blocks.loss.size(), seen_blocks = std::size_t(result.seen * double(n));
    if (seen_blocks < 4) continue;
    final.push_back(mean_of_last(blocks.loss, std::clamp<std::size_t>(n / 10, 1, 10)));
    const Seen seen{blocks, seen_blocks};
    add("current_loss", blocks.loss[seen_blocks - 1]);
    add("current_average", mean_of_last(seen.loss(), 10));
    const RateBlocks to_come = rates_of(blocks, seen_blocks, n - seen_blocks);
    for (const auto& f : forecasters)
      add(std::string(f->name()),
          f->able(seen) ? f->centres(seen, to_come).back() : std::log(blocks.loss[seen_blocks - 1]));
  }
  for (const std::string& name : order) result.ranks.push_back({name, spearman(early[name], final)});
}

/// A note on a file or run that is left out.
std::string left_out(const std::string& name, const std::string& why) {
  return (why.starts_with(name) ? why : name + ": " + why) + "; it is left out";
}

}  // namespace

std::vector<std::string> run_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    for (const char* ending : {".csv", ".tsv", ".jsonl", ".csv.gz", ".tsv.gz", ".jsonl.gz"})
      if (name.ends_with(ending)) files.push_back(entry.path().string());
    if (entry.is_directory(error) && !event_files(entry.path().string()).empty())
      files.push_back(entry.path().string());
  }
  require(!error, folder + ": is no folder that can be read");
  require(!files.empty(),
          folder +
              ": holds no logs; their names end with .csv, .tsv or .jsonl, or with .gz after that, or "
              "they are folders of TensorBoard's event files");
  std::sort(files.begin(), files.end());
  return files;
}

Runs read_runs(const std::string& folder, const LogRequest& request) {
  Runs all;
  for (const std::string& file : run_files(folder)) {
    try {
      all.runs.push_back({file, read_log(file, request.columns, request.block.value_or(0))});
      const auto& notes = all.runs.back().log.notes();
      all.notes.insert(all.notes.end(), notes.begin(), notes.end());
    } catch (const Error& e) {
      all.notes.push_back(left_out(file, e.what()));
    }
  }
  if (all.runs.empty())
    fail<InvalidArgument>(folder + ": none of its logs can be read; " + all.notes.front());
  return all;
}

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const auto ranks = [](const std::vector<double>& v) {
    std::vector<std::size_t> order(v.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return v[i] < v[j]; });
    std::vector<double> rank(v.size());
    for (std::size_t i = 0; i < order.size();) {
      std::size_t j = i;
      while (j < order.size() && v[order[j]] == v[order[i]]) ++j;
      for (std::size_t k = i; k < j; ++k) rank[order[k]] = double(i + j - 1) / 2;
      i = j;
    }
    return rank;
  };
  if (a.size() < 3) return unknown;
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double middle = double(a.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    xy += (x[i] - middle) * (y[i] - middle), xx += (x[i] - middle) * (x[i] - middle),
        yy += (y[i] - middle) * (y[i] - middle);
  return xy / std::sqrt(xx * yy);
}

BacktestResult backtest(const Runs& all_runs, const Forecasters& forecasters, const StoreStanding* standing) {
  BacktestResult result;
  result.notes = all_runs.notes;
  std::vector<const Run*> runs;
  std::map<std::pair<std::string, std::size_t>, std::vector<std::array<double, 3>>>
      all;  // CRPS, coverage, CRPS less the driver's
  for (const Run& run : all_runs.runs) {
    OfRun sums;
    std::size_t origins = 0;
    try {
      sums = scores_of(run, forecasters, standing, origins);
      require(!sums.empty(), "it has " + std::to_string(run.log.blocks().loss.size()) +
                                 " blocks, and a backtest needs " + std::to_string(first_origin + longest));
    } catch (const InvalidArgument& e) {
      result.notes.push_back(left_out(run.name, e.what()));
      continue;
    }
    runs.push_back(&run);
    result.origins += origins;
    for (const auto& [key, sum] : sums) {
      const auto& driver = sums.at({"driver", key.second});
      all[key].push_back({sum[0] / sum[2], sum[1] / sum[2], sum[0] / sum[2] - driver[0] / driver[2]});
    }
  }
  result.runs = runs.size();
  if (runs.empty())
    fail<InvalidArgument>("forecast: there is no run for a backtest" +
                          (result.notes.empty() ? "" : "; " + result.notes.back()));
  std::vector<std::string> names{"driver"};
  for (const auto& f : forecasters) names.emplace_back(f->name());
  for (const std::string& name : names) {
    for (const std::size_t h : horizons) {
      const auto found = all.find({name, h});
      if (found == all.end()) continue;
      BacktestRow row{name, std::int64_t(h) * runs[0]->log.length()};
      std::vector<double> differences;
      for (const auto& [crps, coverage, difference] : found->second)
        row.crps += crps, row.coverage += coverage, differences.push_back(difference);
      row.runs = found->second.size();
      row.crps /= double(row.runs), row.coverage /= double(row.runs);
      row.against_driver = bootstrap_mean(differences);
      result.rows.push_back(row);
    }
  }
  add_ranks(result, runs, forecasters);
  return result;
}

Json backtest_json(const BacktestResult& r) {
  Json rows = Json::array(), ranks = Json::array();
  for (const BacktestRow& row : r.rows)
    rows.push_back({{"forecaster", row.forecaster},
                    {"horizon", row.horizon},
                    {"crps", row.crps},
                    {"coverage", row.coverage},
                    {"crps_less_driver", row.against_driver},
                    {"runs", row.runs}});
  for (const RankRow& row : r.ranks)
    ranks.push_back({{"forecaster", row.forecaster}, {"spearman", row.spearman}});
  return {{"runs", r.runs},       {"origins", r.origins}, {"rows", rows},
          {"ranks_seen", r.seen}, {"ranks", ranks},       {"notes", r.notes}};
}

}  // namespace kolmo::predict
