#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "cli/context.hpp"
#include "kolmo/monitor/exposition.hpp"
#include "kolmo/monitor/server.hpp"
#include "kolmo/runtime/device.hpp"
#include "kolmo/runtime/metrics.hpp"
#include "kolmo/runtime/trace.hpp"
#include "kolmo/tune/lookup.hpp"
#include "kolmo/tune/store.hpp"
#include "kolmo/tune/tune.hpp"
#include "kolmo/tune/tune_call.hpp"
#include "python/src/released.hpp"

namespace kolmo::python {
namespace {

using Json = nlohmann::ordered_json;

std::size_t use_store(const std::string& root, const std::string& device) {
  const Device devices[] = {parse_device(device)};
  return tune::use(tune::Store(root), devices, to_string(tune::default_mode(devices[0].kind)));
}

std::string metrics_json() {
  Json all = Json::array();
  for (const metrics::Family& f : metrics::collect()) {
    Json readings = Json::array();
    for (const metrics::Reading& r : f.readings) {
      Json labels = Json::object();
      for (const auto& [name, value] : r.labels) labels[name] = value;
      const bool histogram = f.kind == metrics::Kind::histogram;
      readings.push_back(
          {{"labels", labels},
           {histogram ? "count" : "value", histogram ? Json(r.histogram.count()) : Json(r.value)}});
    }
    all.push_back({{"name", f.name}, {"help", f.help}, {"readings", readings}});
  }
  return all.dump();
}

/// Calls a Python function. Exceptions of Kolmo's kinds that it raises become Kolmo's own.
template <class... A>
decltype(auto) call(const auto& function, const A&... arguments) {
  const Callback entered;
  try {
    return function(arguments...);
  } catch (const nb::python_error& error) {
    const nb::gil_scoped_acquire gil;
    rethrow(error);
  }
}

using Measured = std::function<double(const std::vector<std::int64_t>&)>;
using Feasible = std::function<bool(const std::vector<std::int64_t>&)>;

/// Runs tune::tune over the places (indices) of values; the callbacks receive places.
std::string tune_function(const std::string& name,
                          const std::vector<std::pair<std::string, std::size_t>>& parameters,
                          const Measured& measure, const std::optional<Feasible>& feasible,
                          const std::optional<Measured>& verify, double budget, double margin) {
  std::vector<tune::Parameter> all;
  for (const auto& [parameter, count] : parameters) {
    tune::Parameter& p = all.emplace_back(tune::Parameter{parameter, {}});
    for (std::size_t i = 0; i < count; ++i) p.values.push_back(std::int64_t(i));
  }
  const tune::Space space(std::move(all), feasible.value_or(Feasible()));
  tune::TuneOptions options;
  options.budget = budget, options.margin = margin;
  if (verify)
    options.verify = [&](std::size_t config) {
      call(*verify, space.values(config));
      return std::string("by the caller");
    };
  const tune::Tuning t = tune::tune(
      name, space, [&](const tune::Values& v) { return call(measure, v); }, options);
  Json findings = Json::array();
  for (const tune::Finding& f : t.findings)
    findings.push_back({{"places", space.values(f.config)},
                        {"samples", f.samples},
                        {"seconds", f.seconds.median},
                        {"gain", f.gain.median},
                        {"error", f.error}});
  return Json{{"places", space.values(t.winner)},
              {"speedup", t.speedup()},
              {"decided", t.decided},
              {"samples", t.samples},
              {"discarded", t.discarded},
              {"seconds", t.seconds},
              {"findings", findings}}
      .dump();
}

}  // namespace

void add_management(nb::module_& module) {
  module.def("use_store", &use_store);
  module.def("stop_using", &tune::stop_using);
  module.def("keep_misses", &cli::keep_misses);
  module.def("missed_calls", [] { return tune::missed().size(); });
  module.def("default_store", &tune::Store::default_root);
  module.def("tune", &tune_function, nb::arg("name"), nb::arg("parameters"), nb::arg("measure"),
             nb::arg("feasible").none(), nb::arg("verify").none(), nb::arg("budget"), nb::arg("margin"),
             nb::call_guard<CurrentDevice>());
  module.def("metrics", &metrics_json);
  module.def("prometheus", [] { return monitor::prometheus_text(metrics::collect()); });
  nb::class_<metrics::Gauge>(module, "Gauge", "A current value among this process's metrics.")
      .def("set", &metrics::Gauge::set, nb::arg("value"));
  module.def(
      "gauge",
      [](const std::string& name, const std::map<std::string, std::string>& labels,
         const std::string& help) -> metrics::Gauge& {
        return metrics::gauge(name, metrics::Labels(labels.begin(), labels.end()), help);
      },
      nb::arg("name"), nb::arg("labels"), nb::arg("help"), nb::rv_policy::reference);
  module.def("start_trace", [] { trace::start(); });
  module.def("stop_trace", [] { return trace::chrome_json(trace::stop()); });
  nb::class_<monitor::Server>(module, "MonitorServer",
                              "Serves this process's metrics over HTTP while it lives.")
      .def(nb::init<const std::string&>())
      .def_prop_ro("url", &monitor::Server::url)
      .def_prop_ro("loopback", &monitor::Server::loopback);
}

}  // namespace kolmo::python
