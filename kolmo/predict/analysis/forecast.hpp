#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kolmo/predict/decide/arena.hpp"
#include "kolmo/predict/decide/decision.hpp"
#include "kolmo/predict/request/forecast_request.hpp"

namespace kolmo::predict {

/// The forecast of a log, and what it rests on.
struct ForecastResult {
  Forecast forecast;
  std::vector<Standing> standings;   ///< of all forecasters, on the log's own past
  std::optional<TimeTo> time;        ///< if there is a target
  std::optional<Decision> decision;  ///< if it was asked for
  std::string file, plan;
  std::int64_t last_step = 0, block = 10;
  double last_rate = 1, loss = 0;  ///< of the last step; of the last block
  std::vector<std::string> notes;
};

constexpr std::int64_t farthest_blocks = 300000;  ///< that are forecast at most

/// The forecasters that compete, and what the runs of a store say of them.
struct Competitors {
  /// `store`: the folder of a run store, or empty. Throws InvalidArgument if it is no folder.
  explicit Competitors(const std::string& store);

  Forecasters forecasters;
  std::optional<StoreStanding> standing;
  std::vector<std::string>
      notes;  ///< of the store: what could not be read, and whether its ensemble may drive
};

/// Trains the world model of the request's store, on its device, on the logs of a folder and all runs that are in the store, and judges
/// it on them. Files that are no logs are left out, and noted.
struct StoreResult {
  TrainedStore trained;
  StoreStanding standing;
};
StoreResult train_store_on(const std::string& runs, const ForecastRequest& request,
                           TrainingOptions options = {});

/// Forecasts a log as the request says. Throws InvalidArgument, naming the option or the log, for what cannot be forecast.
ForecastResult forecast_log(const TrainingLog& log, const ForecastRequest& request,
                            const std::string& file = "log");
/// Returns sentences that tell the user how a log was read, and what of it makes a forecast less sure.
std::vector<std::string> notes_of(const TrainingLog& log);
/// The mean training loss of the last blocks, of which there are as many as blocks_that_count() says.
struct RecentLoss {
  std::int64_t steps;
  double loss;
};
RecentLoss recent_loss(const TrainingLog& log);
/// The blocks that hold the next `steps` steps.
std::size_t blocks_ahead(const TrainingLog& log, std::int64_t steps);
/// The arena of competitors, for horizons up to so many blocks.
Arena arena_of(const Competitors& competitors, std::size_t longest);
/// The learning rates to come, as a request says. `log`: of the training so far.
Plan plan_of(const ForecastRequest& request, const TrainingLog& log);
/// Decides how to reach the target of the request first, or to end lowest within its budget. Averages of the weights are not
/// known here. A decay falls linearly from the planned rates to 0. Throws InvalidArgument without a target and a budget.
Decision decide(const TrainingLog& log, const ForecastRequest& request, const Competitors& competitors);
/// Forecasts the log in a file as forecast_log() does.
ForecastResult forecast_file(const std::string& path, const ForecastRequest& request);

/// The JSON object that the command prints: `forecast` is an array with step, horizon, median, low, high (90 %), mean, rate, driver and
/// the 19 quantiles of each block to come.
nlohmann::ordered_json forecast_json(const ForecastResult& result);

/// Returns the text that the command prints about a store that it has trained.
nlohmann::ordered_json store_json(const StoreResult& result);

/// The description of the command `kolmo forecast`, in the form in which analyses describe themselves.
struct ForecastInfo {
  static constexpr std::string_view
      name = "forecast",
      function = "predict.forecast",
      summary = "Where a training is going: its loss under planned learning rates, from its log";
  static constexpr std::string_view about =
      "Several forecasters compete on the log's own past, and the best drives. Each forecasts the logarithm "
      "of the mean loss of\n"
      "blocks of 10 steps; the quantiles are those of the errors that it made. While the log has shown no "
      "decay, the gain of\n"
      "one is 11 % of the loss, 3 to 16 % for nine of ten trainings, and the interval says so.";
  static constexpr std::string_view example = "kolmo forecast run.csv --plan decay@5000:800 --target 1.39";
  static constexpr std::string_view source =
      "Tissue et al. 2024 (arXiv 2408.11029); Vovk, Gammerman, Shafer, Algorithmic Learning in a Random "
      "World (2005)";
};
Options forecast_options();
nlohmann::ordered_json describe_forecast();

/// A figure as SVG: the log's blocks, the median, and the 50 % and 90 % intervals, on a logarithmic axis.
std::string forecast_svg(const TrainingLog& log, const ForecastResult& result);

}  // namespace kolmo::predict
