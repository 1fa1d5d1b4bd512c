#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "kolmo/flow/request/options_json.hpp"
#include "kolmo/io/json.hpp"
#include "kolmo/predict/analysis/backtest.hpp"
#include "kolmo/predict/analysis/forecast.hpp"
#include "kolmo/predict/analysis/sweep.hpp"
#include "python/src/module.hpp"
#include "python/src/released.hpp"

namespace kolmo::python {
namespace {

using namespace predict;
using Values = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

ForecastRequest request_of(const std::string& options) {
  ForecastRequest request;
  read_options(forecast_options(), &request, parse_json<nlohmann::ordered_json>(options, "forecast"),
               "forecast");
  return request;
}

/// Columns by name as a table; infinities and NaN stay as they are.
Table table_of(const std::map<std::string, Values>& columns, const std::string& name) {
  Table table;
  table.file = name;
  table.named = true;
  for (const auto& [column, values] : columns) {
    require(table.columns.empty() || values.size() == table.rows(),
            name + ": column " + column + " has " + std::to_string(values.size()) +
                " rows, but others have " + std::to_string(table.rows()));
    table.names.push_back(column);
    table.columns.emplace_back(values.data(), values.data() + values.size());
    table.faults.emplace_back();
  }
  return table;
}

/// Returns a document as text. Bytes of names that are not UTF-8 are replaced.
std::string text_of(const nlohmann::ordered_json& document) {
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// The document of a forecast as JSON, and its figure.
std::pair<std::string, std::string> forecast(const TrainingLog& log, const std::string& options,
                                             std::vector<double> rates, const std::string& name) {
  ForecastRequest request = request_of(options);
  request.rates = std::move(rates);
  const ForecastResult result = forecast_log(log, request, name);
  return {text_of(forecast_json(result)), forecast_svg(log, result)};
}

}  // namespace

void add_predict(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<TrainingLog>(
      module, "TrainingLog",
      "The record of one running training: step, loss, norm of the gradient, learning rate, and "
      "losses on held-out data, of the weights and of averaged ones. NaN is unknown; a loss that was no "
      "finite number is "
      "infinite. A step that is not above the last one means that the training went back to it.")
      .def(nb::init<std::int64_t, std::int64_t>(), "block"_a = 10, "skip"_a = 0)
      .def(
          "append",
          [](TrainingLog& log, std::int64_t step, double loss, double gradient_norm, double rate,
             double validation, double averaged) {
            log.append({step, loss, gradient_norm, rate, validation, averaged});
          },
          "step"_a, "loss"_a = unknown, "gradient_norm"_a = unknown, "rate"_a = unknown,
          "validation"_a = unknown, "averaged"_a = unknown, "Appends a row.")
      .def("__len__", [](const TrainingLog& log) { return log.rows().size(); })
      .def_prop_ro("block", &TrainingLog::length, "Steps in a block.")
      .def_prop_ro("last_step", &TrainingLog::last_step)
      .def_prop_ro("last_rate", &TrainingLog::last_rate)
      .def_prop_ro(
          "losses", [](const TrainingLog& log) { return log.blocks().loss; },
          "The mean loss of each full block.")
      .def(
          "write", [](const TrainingLog& log, const std::string& path) { write_log(path, log); }, "path"_a,
          "Writes CSV, or JSONL for a name that ends with .jsonl.");
  module.def(
      "read_log",
      [](const std::string& path, const std::string& options) {
        const ForecastRequest request = request_of(options);
        return read_log(path, request.columns, request.block.value_or(0));
      },
      "path"_a, "options"_a = "{}", nb::call_guard<Released>());
  module.def(
      "log_of",
      [](const std::map<std::string, Values>& columns, const std::string& options, const std::string& name) {
        const ForecastRequest request = request_of(options);
        return log_of(rows_of(table_of(columns, name), request.columns), request.block.value_or(0));
      },
      "columns"_a, "options"_a = "{}", "name"_a = "log");
  module.def("forecast_log", forecast, "log"_a, "options"_a, "rates"_a, "name"_a, nb::call_guard<Released>(),
             "The document of a forecast as JSON text, and its figure as SVG.");
  module.def(
      "backtest_runs",
      [](const std::string& folder, const std::string& options) {
        const ForecastRequest request = request_of(options);
        const Competitors competitors(request.store);
        return text_of(
            backtest_json(predict::backtest(read_runs(folder, request), competitors.forecasters,
                                            competitors.standing ? &*competitors.standing : nullptr)));
      },
      "folder"_a, "options"_a, nb::call_guard<Released>());
  module.def(
      "sweep_runs",
      [](const std::string& folder, const std::string& options) {
        return text_of(sweep_json(predict::sweep(folder, request_of(options))));
      },
      "folder"_a, "options"_a, nb::call_guard<Released>());
  module.def(
      "train_store",
      [](const std::string& runs, const std::string& options) {
        const ForecastRequest request = request_of(options);
        return text_of(store_json(train_store_on(runs, request)));
      },
      "runs"_a, "options"_a, nb::call_guard<Released>());
  module.def("describe_forecast", [] { return describe_forecast().dump(); });
}

}  // namespace kolmo::python
