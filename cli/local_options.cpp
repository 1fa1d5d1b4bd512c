#include "cli/local_options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>

#include "cli/files.hpp"
#include "kolmo/flow/result/local_table.hpp"

namespace kolmo::cli {
namespace {

/// The row of the file that is row 0 of the series.
std::int64_t first_row(const AnalysisOptions& o) {
  std::int64_t start = 0;  // --rows was read before; START may be left out
  std::from_chars(o.rows.data(), o.rows.data() + o.rows.size(), start);
  const Transform t = o.preparation.transform;
  return start + (t == Transform::difference || t == Transform::log_difference);
}

}  // namespace

void LocalOptions::add(CLI::App& c) {
  add_output(c, "--local", path_, "write the local value of every sample here; their mean is the estimate")
      ->type_name("FILE.csv");
  add_count(c, "--local-window", window_, 1, 1000000000,
            "with their mean over the samples of the last N rows, so that it is resolved in time")
      ->default_str("");
  time_.add(c, "for --local");
}

void LocalOptions::check(const AnalysisOptions& o) const {
  const auto step = time_.step();
  require(wanted() || !window_, "--local-window: needs --local, the file that it is written to");
  require(wanted() || !step, "--dt: needs --local, the file that times are written to");
  require(!to_standard_output() || !o.json, "--local and --json: only one can go to standard output");
  require(!wanted() || o.estimator.bias == Bias::none,
          "--local: --bias miller-madow corrects the mean, and no single value");
}

void LocalOptions::write(const Series& series, const EstimationTask& task, const AnalysisOptions& o,
                         Stream& stream) const {
  if (!wanted()) return;
  const std::vector<double> values = local_values(series, task, o.estimator, stream);
  write_results({{path_, local_table_csv(series, task.times, values,
                                         {first_row(o), window_, o.factor(), o.unit(), time_.step()})}});
}

void LocalOptions::describe(nlohmann::ordered_json& j) const {
  if (!wanted()) return;
  j["local"] = path_;
  if (window_) j["local_window"] = window_;
  if (const auto step = time_.step()) j["dt"] = step->step, j["dt_unit"] = step->unit;
}

}  // namespace kolmo::cli
