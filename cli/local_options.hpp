#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "cli/analysis_options.hpp"
#include "cli/time_options.hpp"

namespace kolmo::cli {

/// --local and what belongs to it: local values of an estimate, written as CSV.
class LocalOptions {
 public:
  void add(CLI::App& command);
  bool wanted() const { return !path_.empty(); }
  bool to_standard_output() const { return path_ == "-"; }
  /// Throws InvalidArgument, naming the option, for combinations that cannot be; before anything is computed.
  void check(const AnalysisOptions& options) const;
  /// Computes the local values of the only alternative of a task, and writes them.
  void write(const Series& series, const EstimationTask& task, const AnalysisOptions& options,
             Stream& stream) const;
  /// The options given, by name.
  void describe(nlohmann::ordered_json& options) const;

 private:
  std::string path_;
  std::int64_t window_ = 0;
  TimeOptions time_;
};

}  // namespace kolmo::cli
