#include "kolmo/predict/analysis/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "kolmo/base/error.hpp"
#include "kolmo/flow/option/describe.hpp"
#include "kolmo/predict/analysis/backtest.hpp"
#include "kolmo/predict/forecast/forecasters.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo::predict {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t usual_horizon = 100, usual_stride = 2, most_blocks = 3000;

constexpr auto fields = ForecastRequest::fields();

bool is_plan(const std::string& text) {
  return text == "hold" || text.starts_with("decay@") || text.starts_with("cosine@");
}

/// The last step that a plan says something of.
std::int64_t end_of(const Plan& plan, std::int64_t last) {
  switch (plan.kind) {
    case Plan::Kind::decay:
      return (plan.at ? plan.at : last) + plan.length;
    case Plan::Kind::cosine:
      return plan.at;
    case Plan::Kind::rates:
      return last + std::int64_t(plan.values.size());
    default:
      return last;
  }
}

std::size_t blocks_of(const ForecastRequest& request, const TrainingLog& log, const Plan& plan) {
  const std::int64_t last = log.last_step(), length = log.length();
  std::int64_t steps = std::max({usual_horizon, 10 * length, end_of(plan, last) - last});
  if (request.target) steps = std::max(steps, last);
  if (request.horizon) steps = *request.horizon;
  const auto blocks = std::int64_t(blocks_ahead(log, steps));
  require(!request.horizon || blocks <= farthest_blocks, "forecast: a horizon of " + std::to_string(steps) +
                                                             " steps is more than " +
                                                             std::to_string(farthest_blocks) + " blocks");
  return std::size_t(request.horizon ? blocks : std::min(blocks, most_blocks));
}

Json number_json(double x) { return std::isnan(x) ? Json() : Json(x); }
Json optional_json(const std::optional<std::int64_t>& step) { return step ? Json(*step) : Json(); }

}  // namespace

Competitors::Competitors(const std::string& store) {
  std::shared_ptr<const WorldModel> model;
  if (!store.empty()) {
    const RunStore opened = RunStore::open(store);
    notes = opened.warnings();
    model = opened.model();
    if (model) standing = read_standing(store, notes);
    if (standing && !standing->admitted)
      notes.push_back(
          "the recurrent ensemble of the store was not clearly better than the best simple forecaster on "
          "held-out past "
          "runs, and does not drive");
  }
  for (auto& f : simple_forecasters(standing ? standing->prior : GainPrior()))
    forecasters.push_back(std::move(f));
  if (model && standing) forecasters.push_back(model);
}

std::size_t blocks_ahead(const TrainingLog& log, std::int64_t steps) {
  return std::size_t((log.last_step() + steps - log.blocks().end + log.length() - 1) / log.length());
}

Arena arena_of(const Competitors& competitors, std::size_t longest) {
  return {competitors.forecasters, longest, usual_stride,
          competitors.standing ? &*competitors.standing : nullptr};
}

Plan plan_of(const ForecastRequest& request, const TrainingLog& log) {
  if (!request.rates.empty()) return Plan::rates(request.rates);
  std::error_code error;
  if (is_plan(request.plan) || !std::filesystem::exists(request.plan, error))
    return Plan::parse(request.plan);
  return Plan::rates(read_rates(request.plan, log.last_step(), request.columns));
}

ForecastResult forecast_log(const TrainingLog& log, const ForecastRequest& request, const std::string& file) {
  require(!request.budget || request.decide, "forecast: --budget is for --decide");
  require(request.device == "cpu", "forecast: --device is for --train-store");
  ForecastResult result;
  result.file = file, result.plan = request.rates.empty() ? request.plan : "rates";
  result.last_step = log.last_step(), result.last_rate = log.last_rate(), result.block = log.length();
  const Plan plan = plan_of(request, log);
  const std::size_t blocks = blocks_of(request, log, plan);
  const Competitors competitors(request.store);
  result.notes = competitors.notes;
  Arena arena = arena_of(competitors, blocks);
  arena.update(log);
  result.forecast = request.forecaster.empty() ? arena.forecast(log, plan, blocks)
                                               : arena.forecast_by(request.forecaster, log, plan, blocks);
  if (result.forecast.unlike_past)
    result.notes.push_back(
        "this training is unlike the runs of the store: its losses are further from theirs than theirs from "
        "each other. What the store says of forecasters does not count, and its recurrent networks drive "
        "only "
        "if they were better on this log's own past");
  result.loss = log.blocks().loss.back();
  result.standings = arena.standings();
  if (request.target) result.time = time_to(result.forecast, *request.target);
  if (request.decide) result.decision = decide(log, request, competitors);
  for (std::string& note : notes_of(log)) result.notes.push_back(std::move(note));
  if (request.target && recent_loss(log).loss <= *request.target)
    result.notes.push_back("the target is reached already, by the mean loss of the last " +
                           std::to_string(recent_loss(log).steps) + " steps");
  if (plan.kind == Plan::Kind::rates && end_of(plan, log.last_step()) < result.forecast.step.back())
    result.notes.push_back("the plan ends at step " + std::to_string(end_of(plan, log.last_step())) +
                           ", and its last rate stays");
  return result;
}

StoreResult train_store_on(const std::string& runs, const ForecastRequest& request, TrainingOptions options) {
  const std::string& store = request.store;
  require(!store.empty(), "forecast: --train-store needs --store FOLDER, the store to make or to add to");
  options.device = parse_device(request.device);
  const Stream stream(options.device);  // fails here, before anything is read, where there is no such device
  std::vector<PastRun> past;
  const Runs read = read_runs(runs, request);
  for (const Run& run : read.runs) past.push_back({run.name, run.log.blocks()});
  StoreResult result;
  try {
    result.trained = train_store(past, store, options);
    result.standing = judge(RunStore::open(store));
  } catch (const InvalidArgument& e) {
    fail<InvalidArgument>(e.what() + (read.notes.empty() ? "" : "; " + read.notes.front()));
  }
  auto& left_out = result.trained.left_out;
  left_out.insert(left_out.begin(), read.notes.begin(), read.notes.end());
  write_standing(store, result.standing);
  return result;
}

ForecastResult forecast_file(const std::string& path, const ForecastRequest& request) {
  return forecast_log(read_log(path, request.columns, request.block.value_or(0)), request, path);
}

Json forecast_json(const ForecastResult& r) {
  Json forecast = Json::array();
  for (std::size_t i = 0; i < r.forecast.step.size(); ++i) {
    const Quantiles& q = r.forecast.quantiles[i];
    forecast.push_back({{"step", r.forecast.step[i]},
                        {"horizon", r.forecast.step[i] - r.last_step},
                        {"median", r.forecast.median[i]},
                        {"low", q.front()},
                        {"high", q.back()},
                        {"mean", r.forecast.mean[i]},
                        {"rate", r.forecast.rate[i]},
                        {"driver", r.forecast.driver},
                        {"quantiles", q}});
  }
  Json standings = Json::array();
  for (const Standing& s : r.standings)
    standings.push_back({{"forecaster", s.forecaster},
                         {"horizon", std::int64_t(s.horizon) * r.block},
                         {"crps", s.score.mean_crps()},
                         {"skill", 1 - s.score.relative()},
                         {"coverage", s.score.coverage()},
                         {"origins", s.score.count}});
  Json levels = Json::array();
  for (std::size_t i = 0; i < quantile_count; ++i) levels.push_back(quantile_level(i));
  Json j{{"file", r.file},
         {"last_step", r.last_step},
         {"last_rate", r.last_rate},
         {"loss", r.loss},
         {"block", r.block},
         {"plan", r.plan},
         {"driver", r.forecast.driver},
         {"calibrated_on", r.forecast.calibrated_on},
         {"noise", r.forecast.noise},
         {"levels", levels},
         {"forecast", forecast}};
  if (r.time)
    j["time_to_target"] = {{"target", r.time->target},
                           {"median", optional_json(r.time->median)},
                           {"low", optional_json(r.time->low)},
                           {"high", optional_json(r.time->high)}};
  if (r.decision) {
    const Decision& d = *r.decision;
    j["decision"] = {{"step", d.step},
                     {"action", d.action},
                     {"length", d.length},
                     {"probability", number_json(d.probability)},
                     {"margin", number_json(d.margin)},
                     {"forecast", number_json(d.forecast)},
                     {"driver", d.driver},
                     {"reason", d.reason}};
  }
  j["standings"] = standings;
  j["notes"] = r.notes;
  return j;
}

Json store_json(const StoreResult& result) {
  const StoreStanding& s = result.standing;
  Json rows = Json::array();
  for (const StoreStanding::Of& of : s.forecasters)
    rows.push_back(
        {{"forecaster", of.forecaster}, {"crps", of.crps}, {"relative_to_persistence", of.relative}});
  return {{"runs", s.runs},
          {"blocks_ahead", {1, 5, 10}},
          {"forecasters", rows},
          {"ensemble_less_best_simple", s.difference},
          {"ensemble_may_drive", s.admitted},
          {"gain_of_decay",
           {{"median", s.prior.median}, {"low", s.prior.low}, {"high", s.prior.high}, {"runs", s.decays}}},
          {"notes", result.trained.left_out}};
}

Options forecast_options() { return fields; }

Json describe_forecast() {
  const ForecastRequest usual;
  return describe(texts_of(ForecastInfo()), fields, &usual);
}

}  // namespace kolmo::predict
