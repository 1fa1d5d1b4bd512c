#pragma once
#include <array>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kolmo/predict/decide/arena.hpp"
#include "kolmo/predict/request/forecast_request.hpp"

namespace kolmo::predict {

/// A finished run, and where it comes from.
struct Run {
  std::string name;
  TrainingLog log;
};

/// The logs in a folder (CSV and JSONL, also packed by gzip, and folders of TensorBoard's event files), in the order of their names.
/// Throws InvalidArgument for a folder without any.
std::vector<std::string> run_files(const std::string& folder);

/// Reads the run_files() of a folder. Throws InvalidArgument if none of them can be read; one that cannot is left out, and noted.
struct Runs {
  std::vector<Run> runs;
  std::vector<std::string> notes;  ///< which files were left out and why, and how others were read
};
Runs read_runs(const std::string& folder, const LogRequest& request);

/// The scores of a forecaster at a horizon. Each is the mean over the runs of the means over a run's origins.
struct BacktestRow {
  std::string forecaster;    ///< "driver": the one that drove at each origin
  std::int64_t horizon = 0;  ///< steps
  double crps = 0;           ///< of log loss
  double coverage = 0;       ///< of 90 % intervals
  std::array<double, 2>
      against_driver{};  ///< 95 % interval of CRPS less that of the driver: paired bootstrap over runs
  std::size_t runs = 0;
};
/// The rank correlation of a forecaster's early forecasts of final losses with the final losses that came.
struct RankRow {
  std::string forecaster;  ///< also "current_loss" and "current_average", of the last 10 blocks
  double spearman = 0;
};
struct BacktestResult {
  std::vector<BacktestRow> rows;
  std::vector<RankRow> ranks;
  double seen = .2;  ///< the share of each run after which ranks are forecast
  std::size_t runs = 0, origins = 0;
  std::vector<std::string> notes;  ///< of reading, and which runs were left out and why
};

/// Replays each run as it came, with the rates that it had, and forecasts the mean loss of the block at 1, 5 and 10 blocks from
/// origins that are 5 blocks, or 1/16 of the run, apart. Quantiles come from errors that were known by then. The final loss of ranks
/// is the mean of the last tenth of the run, at most 10 blocks. A run that cannot be forecast is left out, and noted. Throws
/// InvalidArgument if no run is left.
BacktestResult backtest(const Runs& runs, const Forecasters& forecasters,
                        const StoreStanding* standing = nullptr);

nlohmann::ordered_json backtest_json(const BacktestResult& result);

/// Spearman's rank correlation; ties have their mean rank. NaN for fewer than 3 values.
double spearman(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace kolmo::predict
