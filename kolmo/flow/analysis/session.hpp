#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kolmo/flow/analysis/arrange_rows.hpp"
#include "kolmo/flow/estimate/progress.hpp"
#include "kolmo/flow/request/options_json.hpp"
#include "kolmo/flow/result/network_document.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo {

/// The data of an analysis, and who is told of warnings, notes and progress while it runs.
class Session {
 public:
  /// `reading`: the options with which the table was read from its file.
  explicit Session(Table table, CommandOptions reading = {})
      : table(std::move(table)), reading(std::move(reading)) {}

  Table table;
  CommandOptions reading;
  std::function<void(const Warning&)> on_warning{};
  std::function<void(const std::string&)> on_note{};
  Progress::Listener progress{};  ///< is told what is done; without one the terminal shows it, if `terminal`
  bool terminal = false;
  std::vector<Warning> warnings{};  ///< all that were found
  std::vector<std::string> notes{};

  /// Chooses and arranges the rows as the request says; warns of what the reader of the file remarked.
  void prepare(const AnalysisRequest& request);
  /// Known after prepare().
  const ArrangedRows& rows() const { return rows_; }
  /// The time between two rows: the request's `dt`, or that of the times of rows.
  std::optional<TimeStep> time_step(const std::optional<double>& dt, const std::string& unit) const;
  /// Columns as a series. Says what is noteworthy about them. Ordinal patterns, if the estimator is ordinal.
  Series series(std::span<const std::size_t> columns, const AnalysisRequest& request);
  /// Tells and keeps warnings; for a strict request throws InvalidArgument for the first.
  void warn(const std::vector<Warning>& more, const AnalysisRequest& request);
  void note(const std::string& text);
  /// Notes the nearest neighbours that the rule has chosen.
  void note_neighbors(const EstimatorOptions& options);
  /// Notes the devices that were lost, whose work the others did.
  void note_losses(const Streams& streams);

 private:
  ArrangedRows rows_;
};

}  // namespace kolmo
