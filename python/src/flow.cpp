#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/analysis_call.hpp"
#include "kolmo/io/npy.hpp"
#include "kolmo/runtime/device.hpp"
#include "python/src/wait.hpp"

namespace kolmo::python {
namespace {

using cli::AnalysisCall;
using Values = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Trials = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Options = std::vector<std::string>;
using Faults = std::map<std::size_t, std::string>;

/// Makes a table of time along rows, or of trials, time and columns. `faults` says for columns that hold no
/// numbers what they hold.
Table table_of(const Values& values, const std::string& name, const std::vector<std::string>& names,
               const Trials& trials, const Faults& faults) {
  std::vector<std::int64_t> shape;
  for (std::size_t d = 0; d < values.ndim(); ++d) shape.push_back(std::int64_t(values.shape(d)));
  Array array(DType::f64, shape);
  if (values.size()) std::memcpy(array.tensor.data, values.data(), values.nbytes());
  Table table = to_table(array, name, {}, names);
  for (const auto& [column, what] : faults) table.faults.at(column) = {{Fault::every_row, what}};
  if (!trials.size()) return table;
  require(table.trial.empty(), name + ": trials: the first of three axes already counts trials");
  require(trials.size() == table.rows(), name + ": trials: " + std::to_string(trials.size()) +
                                             " labels for " + std::to_string(table.rows()) + " rows");
  table.trial.assign(trials.data(), trials.data() + trials.size());
  return table;
}

nb::list pairs(const std::vector<Warning>& warnings) {
  nb::list all;
  for (const Warning& w : warnings) all.append(nb::make_tuple(w.name, w.text));
  return all;
}

nb::dict dict_of(const FinishedWork::Records& records) {
  nb::dict all;
  for (const auto& [id, text] : records)
    all[nb::make_tuple(id.first, id.second)] = nb::bytes(text.data(), text.size());
  return all;
}

FinishedWork::Records records_of(const nb::dict& finished) {
  FinishedWork::Records all;
  for (const auto& [id, text] : finished) {
    const auto bytes = nb::cast<nb::bytes>(text);
    all.emplace(nb::cast<FinishedWork::Id>(id), std::string(bytes.c_str(), bytes.size()));
  }
  return all;
}

void run(const std::string& command, const Options& options, AnalysisCall& call, nb::handle progress) {
  wait_for(
      [&](Advance& advance) {
        call.progress = [&](double done, double total) { advance.done = done, advance.total = total; };
        cli::analyse(command, options, call);
      },
      progress);
}

nb::tuple analyse(const std::string& command, const Options& options, const Values& values,
                  const std::string& name, const std::vector<std::string>& names, const Trials& trials,
                  const Faults& faults, nb::object progress, const std::string& checkpoint,
                  const nb::dict& finished, bool keep) {
  AnalysisCall call{.table = table_of(values, name, names, trials, faults)};
  call.checkpoint = checkpoint, call.finished = records_of(finished);
  run(command, options, call, progress);
  const std::string result =
      call.result.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return nb::make_tuple(result, pairs(call.warnings), call.notes, keep ? dict_of(call.records) : nb::dict());
}

nb::dict network_records(const Options& options, const Values& values, const std::string& name,
                         const std::vector<std::string>& names, const Trials& trials, const Faults& faults,
                         const std::vector<std::size_t>& targets, nb::object progress,
                         const std::string& checkpoint, const nb::dict& finished) {
  if (targets.empty()) return {};
  AnalysisCall call{.table = table_of(values, name, names, trials, faults)};
  for (const std::size_t target : targets)
    require(target < call.table.columns.size(), name + ": there is no column " + std::to_string(target));
  call.targets = targets, call.checkpoint = checkpoint, call.finished = records_of(finished);
  run("network", options, call, progress);
  return dict_of(call.records);
}

nb::tuple network_plan(const Options& options, const Values& values, const std::string& name,
                       const std::vector<std::string>& names, const Trials& trials, const Faults& faults,
                       const std::string& checkpoint) {
  AnalysisCall call{.table = table_of(values, name, names, trials, faults)};
  call.plan = true, call.checkpoint = checkpoint;
  run("network", options, call, nb::none());
  return nb::make_tuple(call.targets, dict_of(call.records));
}

}  // namespace

void add_flow(nb::module_& module) {
  using namespace nb::literals;
  module.def("analyse", analyse, "command"_a, "options"_a, "values"_a, "name"_a, "names"_a, "trials"_a,
             "faults"_a, "progress"_a.none(), "checkpoint"_a = "", "finished"_a = nb::dict(),
             "keep"_a = false, nb::call_guard<CurrentDevice>(),
             "Runs an analysis command on a table in memory.\n\n"
             "Returns the JSON text, the warnings as pairs of name and text, the notes and, with `keep`, the "
             "records of "
             "finished work.");
  module.def("network_plan", network_plan, "options"_a, "values"_a, "name"_a, "names"_a, "trials"_a,
             "faults"_a, "checkpoint"_a = "", nb::call_guard<CurrentDevice>(),
             "The columns of targets to compute, and the records in the checkpoint.");
  module.def(
      "network_records", network_records, "options"_a, "values"_a, "name"_a, "names"_a, "trials"_a,
      "faults"_a, "targets"_a, "progress"_a.none() = nb::none(), "checkpoint"_a = "",
      "finished"_a = nb::dict(), nb::call_guard<CurrentDevice>(),
      "The records of the targets in these columns, which `finished` of a later call takes; what it holds is "
      "not computed\nagain. All go into the checkpoint.");
  module.def(
      "analysis_options", [](const std::string& command) { return cli::analysis_options(command).dump(); },
      "command"_a, "The options of an analysis command as JSON text.");
}

}  // namespace kolmo::python
