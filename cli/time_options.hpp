#pragma once
#include <optional>
#include <string>

#include "kolmo/flow/result/network_document.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kolmo::cli {

/// --dt and --dt-unit: the time between two rows.
class TimeOptions {
 public:
  void add(CLI::App& command, const std::string& help);
  bool given() const;
  /// Throws InvalidArgument, naming the option, for one without the other, and for a step that is not above 0.
  std::optional<TimeStep> step() const;

 private:
  double dt_ = 1;
  std::string unit_;
  CLI::Option *dt_option_ = nullptr, *unit_option_ = nullptr;
};

}  // namespace kolmo::cli
