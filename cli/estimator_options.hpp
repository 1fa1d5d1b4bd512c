#pragma once
#include <string>

#include "cli/context.hpp"
#include "kolmo/flow/estimate/estimate.hpp"

namespace CLI {
class App;
}

namespace kolmo::cli {

/// --estimator and the options that belong to one estimator.
class EstimatorFlags {
 public:
  /// Adds the options to a command that has those of AnalysisOptions.
  void add(CLI::App& command, EstimatorOptions& options);
  bool offered() const { return command_ != nullptr; }
  /// Settles what depends on the estimator: surrogates and their type where they were not given, and the
  /// device. Throws InvalidArgument, naming both options, for an option that another estimator has, and for
  /// a device that the estimator does not run on.
  void settle(EstimatorOptions& options, DeviceOptions& device) const;
  /// Ordinal patterns for the ordinal estimator, else the series itself.
  Series symbols(const Series& series, const EstimatorOptions& options) const;

  std::int64_t order = 3, order_delay = 1;

 private:
  bool given(const std::string& option) const;
  CLI::App* command_ = nullptr;
};

}  // namespace kolmo::cli
