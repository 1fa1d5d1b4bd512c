#include "kolmo/predict/analysis/forecast.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/analysis.hpp"
#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/option.hpp"
#include "cli/table.hpp"
#include "kolmo/predict/analysis/backtest.hpp"
#include "kolmo/predict/analysis/sweep.hpp"
#include "kolmo/predict/report/sweep_report.hpp"
#include "kolmo/predict/report/training_report.hpp"

namespace kolmo::cli {
namespace {

using namespace predict;

struct ForecastFlags {
  ForecastRequest request;
  std::string file, plot, report, sweep, backtest, train_store;
  bool json = false;
};

std::string step_text(const std::optional<std::int64_t>& step) {
  return step ? std::to_string(*step) : "not within the horizon";
}

void print_decision(const Decision& d) {
  std::cout << "decision: " << d.text();
  if (!std::isnan(d.forecast))
    std::cout << " (loss " << significant(d.forecast) << " at the end of the decay, probability "
              << percent(d.probability, 2) << ", margin " << significant(d.margin, 2) << ')';
  std::cout << '\n';
}

/// Horizons at which the table shows the forecast: about 12, the last one included.
void print_forecast(const ForecastResult& r) {
  TextTable table({">step", ">rate", ">median", ">5 %", ">95 %"});
  const std::size_t n = r.forecast.step.size();
  std::size_t shown = 0;
  for (std::size_t line = 1; line <= std::min<std::size_t>(n, 12); ++line) {
    const std::size_t i = n * line / std::min<std::size_t>(n, 12) - 1;
    const Quantiles& q = r.forecast.quantiles[i];
    table.add({std::to_string(r.forecast.step[i]), significant(r.forecast.rate[i]),
               significant(r.forecast.median[i]), significant(q.front()), significant(q.back())});
    ++shown;
  }
  std::cout << r.file << ": step " << r.last_step << ", loss " << significant(r.loss) << ", rate "
            << significant(r.last_rate) << ", plan " << r.plan << '\n';
  table.print(std::cout);
  if (r.time)
    std::cout << "loss " << significant(r.time->target) << " is reached at step " << step_text(r.time->median)
              << " (90 %: " << step_text(r.time->low) << " to " << step_text(r.time->high) << ")\n";
  if (r.decision) print_decision(*r.decision);
  std::cout << "forecast by " << r.forecast.driver << ", quantiles from " << r.forecast.calibrated_on << '\n';
}

/// The standings at the horizons that are kept next to 10, 50 and 100 steps of blocks of 10.
void print_standings(const ForecastResult& r) {
  TextTable table({"forecaster", ">horizon", ">CRPS x1000", ">skill", ">coverage", ">origins"});
  for (const Standing& s : r.standings)
    if (s.horizon == 1 || s.horizon == 5 || s.horizon == 10)
      table.add({s.forecaster, std::to_string(std::int64_t(s.horizon) * r.block),
                 significant(1000 * s.score.mean_crps(), 3), percent(1 - s.score.relative(), 2),
                 percent(s.score.coverage(), 2), std::to_string(s.score.count)});
  if (table.empty()) return;
  std::cout << "\non the log's own past (skill: against persistence; coverage: of 90 % intervals):\n";
  table.print(std::cout);
}

void print_json(const nlohmann::ordered_json& document) {
  std::cout << document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

void run_log(const ForecastFlags& o, const Context& context) {
  const TrainingLog log = read_log(o.file, o.request.columns, o.request.block.value_or(0));
  const ForecastResult result = forecast_log(log, o.request, o.file);
  for (const std::string& note : result.notes) print_note(note);
  std::vector<std::pair<std::string, std::string>> files;
  if (!o.plot.empty()) files.emplace_back(o.plot, forecast_svg(log, result));
  if (!o.report.empty())
    files.emplace_back(o.report, training_report(log, outlook(log, o.request, o.file), context.command_line));
  if (!files.empty()) write_results(files);
  if (o.json) return print_json(forecast_json(result));
  print_forecast(result);
  print_standings(result);
}

void run_sweep(const ForecastFlags& o, const Context& context) {
  const Sweep s = sweep(o.sweep, o.request);
  for (const std::string& note : s.notes) print_note(note);
  if (!o.report.empty()) write_results({{o.report, sweep_report(s, o.sweep, context.command_line)}});
  if (o.json) return print_json(sweep_json(s));
  TextTable table(
      {">rank", ">5 % to 95 %", "run", ">step", ">loss", ">median", ">5 %", ">95 %", ">best", ""});
  for (const SweepRun& run : s.runs)
    if (run.why_not.empty())
      table.add({std::to_string(std::int64_t(run.rank)), rank_interval(run), run.name,
                 std::to_string(run.last_step), significant(run.loss), significant(run.median),
                 significant(run.low), significant(run.high), percent(run.best, 2),
                 s.may_stop(run) ? "may stop" : ""});
    else
      print_note(run.why_not);
  table.print(std::cout);
  std::cout << "\nat step " << s.step
            << "; a run may stop if it ends below the first one with a probability of less than "
            << percent(Sweep::stop_below, 2) << '\n';
}

void run_backtest(const ForecastFlags& o) {
  const Competitors competitors(o.request.store);
  for (const std::string& note : competitors.notes) print_note(note);
  const BacktestResult r = backtest(read_runs(o.backtest, o.request), competitors.forecasters,
                                    competitors.standing ? &*competitors.standing : nullptr);
  for (const std::string& note : r.notes) print_note(note);
  if (o.json) return print_json(backtest_json(r));
  TextTable table({"forecaster", ">horizon", ">CRPS x1000", ">less driver", ">coverage", ">runs"});
  for (const BacktestRow& row : r.rows)
    table.add({row.forecaster, std::to_string(row.horizon), significant(1000 * row.crps),
               "[" + significant(1000 * row.against_driver[0], 3) + ", " +
                   significant(1000 * row.against_driver[1], 3) + "]",
               percent(row.coverage, 2), std::to_string(row.runs)});
  table.print(std::cout);
  std::cout << "\nCRPS of log loss, " << r.runs << " runs, " << r.origins
            << " origins; the interval is that of the CRPS less the driver's\n"
            << "\nrank of the final losses, forecast after " << percent(r.seen, 2) << " of each run:\n";
  TextTable ranks({"forecaster", ">Spearman"});
  for (const RankRow& row : r.ranks) ranks.add({row.forecaster, significant(row.spearman, 2)});
  ranks.print(std::cout);
}

void run_training(const ForecastFlags& o) {
  const StoreResult r = train_store_on(o.train_store, o.request);
  for (const std::string& why : r.trained.left_out) print_note(why);
  if (o.json) return print_json(store_json(r));
  std::cout << o.request.store << ": an ensemble learned from " << r.trained.runs << " runs\n";
  TextTable table({"forecaster", ">CRPS x1000, 1 block", ">5", ">10"});
  for (const StoreStanding::Of& of : r.standing.forecasters)
    table.add({of.forecaster, significant(1000 * of.crps[0]), significant(1000 * of.crps[1]),
               significant(1000 * of.crps[2])});
  table.print(std::cout);
  std::cout << "on runs that it had not learned from; "
            << (r.standing.admitted ? "it may drive" : "it does not drive: no clear gain at 5 and 10 blocks")
            << "\ngain of a decay: " << percent(r.standing.prior.median, 2)
            << " of the loss (90 %: " << percent(r.standing.prior.low, 2) << " to "
            << percent(r.standing.prior.high, 2) << "), "
            << (r.standing.decays < StoreStanding::fewest_decays
                    ? fmt::format("the usual one: {} runs show it, and {} are needed", r.standing.decays,
                                  StoreStanding::fewest_decays)
                    : fmt::format("of {} runs", r.standing.decays))
            << '\n';
}

void run_forecast(const ForecastFlags& o, const Context& context) {
  const int given = !o.file.empty() + !o.sweep.empty() + !o.backtest.empty() + !o.train_store.empty();
  require(given == 1, "forecast: needs one of LOG, --sweep FOLDER, --backtest FOLDER and --train-store RUNS");
  require(o.plot.empty() || !o.file.empty(), "forecast: --plot is of a LOG");
  require(o.report.empty() || !o.file.empty() || !o.sweep.empty(),
          "forecast: --report is of a LOG or a --sweep");
  require(o.request.device == "cpu" || !o.train_store.empty(), "forecast: --device is for --train-store");
  require(!o.request.target || o.sweep.empty(), "forecast: --target is of a LOG");
  require(!o.request.decide || !o.file.empty(), "forecast: --decide is of a LOG");
  if (!o.sweep.empty()) return run_sweep(o, context);
  if (!o.train_store.empty()) return run_training(o);
  if (!o.backtest.empty()) return run_backtest(o);
  run_log(o, context);
}

}  // namespace

void add_forecast(CLI::App& app, Context& context) {
  using I = ForecastInfo;
  CLI::App* const c = app.add_subcommand(std::string(I::name), std::string(I::summary));
  const auto flags = std::make_shared<ForecastFlags>();
  add_input(*c, "LOG", flags->file,
            "log of a training: CSV or JSONL, also packed by gzip; - reads CSV from standard input");
  add_options(*c, forecast_options(), &flags->request);
  add_output(*c, "--plot", flags->plot, "write a figure")->type_name("FILE.svg");
  add_output(*c, "--report", flags->report,
             "write a page: curve, forecasts of plans, when to decay, who forecasts; of a sweep: ranks, and "
             "which runs may stop")
      ->type_name("FILE.html");
  c->add_option("--sweep", flags->sweep,
                "forecast all runs whose logs are in this folder to the same step: ranks, and which may stop")
      ->type_name("FOLDER");
  c->add_option("--backtest", flags->backtest,
                "instead of a forecast: which forecaster would have been best on the runs whose logs are in "
                "this folder")
      ->type_name("FOLDER");
  c->add_option(
       "--train-store", flags->train_store,
       "instead of a forecast: train the ensemble of the --store on the runs whose logs are in this folder")
      ->type_name("RUNS");
  c->add_flag("--json", flags->json, "print one JSON object");
  c->footer(std::string(I::about) + "\nExample:\n  " + std::string(I::example));
  c->callback([flags, &context] { run_forecast(*flags, context); });
}

}  // namespace kolmo::cli
