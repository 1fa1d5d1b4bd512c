#include "cli/time_options.hpp"

#include <CLI/CLI.hpp>
#include <cmath>

#include "kolmo/base/error.hpp"

namespace kolmo::cli {

void TimeOptions::add(CLI::App& c, const std::string& help) {
  dt_option_ = c.add_option("--dt", dt_, "time between two rows, " + help)->type_name("STEP");
  unit_option_ = c.add_option("--dt-unit", unit_, "its unit, such as year or ms")->type_name("UNIT");
}

bool TimeOptions::given() const { return dt_option_->count() || unit_option_->count(); }

std::optional<TimeStep> TimeOptions::step() const {
  if (!given()) return {};
  require(dt_option_->count(), "--dt-unit: needs --dt, the time between two rows");
  require(std::isfinite(dt_) && dt_ > 0, "--dt: must be a number above 0");
  require(!unit_.empty(), "--dt: needs --dt-unit, the unit of time");
  return TimeStep{dt_, unit_};
}

}  // namespace kolmo::cli
