#pragma once
#include <functional>
#include <limits>

#include "kolmo/flow/estimate/estimate_batch.hpp"
#include "kolmo/flow/test/statistics.hpp"

namespace kolmo {

/// Options of transfer entropy over the last `window` rows, computed every `step` rows. Variables are indices
/// into a row.
struct WindowOptions {
  std::int64_t window = 1000, step = 100;
  std::int32_t source = 0, target = 1;
  Coordinates given;
  Embedding source_past, target_past;
  std::int64_t lag = 1;
  Preparation preparation;
  EstimatorOptions estimator;
  PValue p_value = PValue::plus_one;
};

/// The result for rows first to last, counted from 0. If there is no value, a reason is given: an error, or
/// the window was dropped because newer ones were waiting.
struct WindowResult {
  std::int64_t first = 0, last = 0, samples = 0;
  double value = std::numeric_limits<double>::quiet_NaN(), p_value = value;  ///< nats; NaN without surrogates
  std::string error;
  std::string constant;  ///< variables with a constant stretch (see constant_stretches)
  PipelineOutcome outcome = PipelineOutcome::done;
  double latency = 0;  ///< seconds from the window's last row to this result
};

/// Transfer entropy over windows of a growing series, through a pipeline. Every window is prepared
/// independently: its result is that of `transfer_entropy_task` on a series of only its rows.
class TransferEntropyWindows {
 public:
  /// `head` names the file and its columns; a row holds the columns listed in `columns`. `take` is called
  /// with every window once, in the order and on the threads that PipelineOptions and Pipeline specify.
  /// drain() throws what `take` throws.
  TransferEntropyWindows(const Table& head, std::span<const std::size_t> columns,
                         const WindowOptions& options, Device device, const PipelineOptions& pipeline,
                         std::function<void(const WindowResult&)> take);

  /// Adds the next row, with NaN for missing values. Returns false if the row completed a window that was
  /// refused.
  bool add(std::span<const double> row);
  void drain() { pipeline_.drain(); }
  PipelineReport report() const { return pipeline_.report(); }
  /// The options of every window; nearest neighbours that are left open are those of a window without missing values.
  const EstimatorOptions& estimator() const { return options_.estimator; }

 private:
  struct Window {
    WindowResult result;
    std::unique_ptr<Series> series;
    std::vector<EstimationTask> tasks;
    EstimateBatch batch;  // of the tasks
  };
  using Windows = Pipeline<Window, std::vector<Estimates>>;

  Window cut() const;
  void finish(Windows::Result& r);

  Table head_;
  std::vector<std::size_t> columns_;
  WindowOptions options_;
  std::function<void(const WindowResult&)> take_;
  std::vector<std::vector<double>> recent_;  // [column], at least the rows of the last window
  std::int64_t rows_ = 0;
  Windows pipeline_;  // its threads use the members above
};

}  // namespace kolmo
