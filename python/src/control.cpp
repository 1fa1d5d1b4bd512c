#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "kolmo/predict/decide/controller.hpp"
#include "python/src/module.hpp"

namespace kolmo::python {
namespace {

using namespace predict;

/// A host that is a Python object with methods of the same names.
class PythonHost final : public Host {
 public:
  explicit PythonHost(nb::handle self) : self_(self) {}

  std::vector<double> losses(std::int64_t from, bool wait) override {
    return call<std::vector<double>>("losses", from, wait);
  }
  std::vector<double> validations(const std::string& of) override {
    return call<std::vector<double>>("validations", of);
  }
  std::optional<Losses> evaluate(const std::vector<std::string>& of) override {
    return call<std::optional<Losses>>("evaluate_each", of);
  }
  Outlook forecast(const Question& q) override {
    try {
      return call<Outlook>("forecast", q.start, q.length, q.horizon, q.of);
    } catch (const nb::python_error& e) {
      rethrow(e);
    }
  }
  bool keep(std::int64_t step) override { return call<bool>("keep", step); }
  void forget_except(std::span<const std::int64_t> steps) override {
    call<nb::object>("forget_except", std::vector<std::int64_t>(steps.begin(), steps.end()));
  }
  void restore(std::int64_t step, bool random_and_data) override {
    call<nb::object>("restore", step, random_and_data);
  }
  void set_rate_factor(double factor) override { call<nb::object>("set_rate_factor", factor); }
  void adopt(const std::string& average) override { call<nb::object>("adopt", average); }
  std::string agree(std::string value) override { return call<std::string>("agree", value); }
  bool all(bool here) override { return call<bool>("all", here); }
  void quiet_block() override { call<nb::object>("quiet_block"); }
  void alarmed() override { call<nb::object>("alarmed"); }

 private:
  template <class Result, class... Args>
  Result call(const char* method, const Args&... args) {
    return nb::cast<Result>(self_.attr(method)(args...));
  }

  nb::handle self_;
};

nb::dict outcome_of(const Outcome& o) {
  nb::dict all;
  if (o.measured) all["measured"] = *o.measured;
  if (o.error) all["error"] = *o.error;
  if (o.losses) {
    nb::dict losses;
    for (const auto& [of, loss] : *o.losses) losses[of.c_str()] = loss;
    all["losses"] = losses;
  }
  if (o.rolled_back) all["rolled_back"] = *o.rolled_back;
  if (o.returned_to) all["returned_to"] = *o.returned_to;
  if (o.rate_factor) all["rate_factor"] = *o.rate_factor;
  if (!o.reason.empty()) all["reason"] = o.reason;
  if (!o.average.empty()) all["average"] = o.average;
  return all;
}

/// Unknown members are left out.
nb::dict dict_of(const Decided& d) {
  nb::dict all;
  all["step"] = d.step, all["action"] = nb::str(d.action.data(), d.action.size()), all["length"] = d.length;
  all["driver"] = d.driver, all["reason"] = d.reason, all["outcome"] = outcome_of(d.outcome);
  for (const auto& [name, value] :
       {std::pair{"probability", d.probability}, {"margin", d.margin}, {"forecast", d.forecast}})
    if (!std::isnan(value)) all[name] = value;
  return all;
}

nb::list decisions_of(const Controller& c) {
  nb::list all;
  for (const Decided& d : c.decisions()) all.append(dict_of(d));
  return all;
}

nb::dict seconds_of(const Controller& c) {
  nb::dict all;
  for (const std::string_view name : charge_names) all[name.data()] = c.charges().seconds(charge_of(name));
  return all;
}

template <class... Args>
auto carried_out_by_host(void (Controller::*method)(Host&, Args...)) {
  return [method](Controller& controller, nb::handle host, Args... args) {
    PythonHost carries_out(host);
    (controller.*method)(carries_out, args...);
  };
}

}  // namespace

void add_control(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Controller>(module, "Controller", "The phases of a watched training, which a host carries out.")
      .def(
          "__init__",
          [](Controller* self, bool control, bool evaluates, std::optional<double> target,
             std::optional<std::int64_t> budget, std::optional<std::int64_t> every, std::int64_t warmup,
             std::optional<double> overhead, std::vector<std::string> averages) {
            new (self) Controller(ControlOptions{control, evaluates, target, budget, every, warmup, overhead,
                                                 std::move(averages)});
          },
          nb::kw_only(), "control"_a, "evaluates"_a, "target"_a.none(), "budget"_a.none(), "every"_a.none(),
          "warmup"_a, "overhead"_a.none(), "averages"_a)
      .def("before_step", carried_out_by_host(&Controller::before_step), "host"_a)
      .def("step", carried_out_by_host(&Controller::step), "host"_a)
      .def("validated", carried_out_by_host(&Controller::validated), "host"_a, "of"_a, "loss"_a)
      .def("went_back", &Controller::went_back, "step"_a)
      .def("release", &Controller::release)
      .def_prop_ro("phase", [](const Controller& c) { return name_of(c.phase()).data(); })
      .def_prop_ro("done", &Controller::done)
      .def_prop_ro("steps", &Controller::steps)
      .def_prop_ro("charged", &Controller::charged)
      .def_prop_ro("rate_factor", &Controller::rate_factor)
      .def_prop_ro("base_factor", &Controller::base_factor)
      .def_prop_ro("offset", &Controller::offset)
      .def_prop_ro("decisions", decisions_of)
      .def(
          "charge",
          [](Controller& c, std::string_view kind, double seconds) {
            c.charges().add(charge_of(kind), seconds);
          },
          "kind"_a, "seconds"_a)
      .def_prop_ro("seconds", seconds_of)
      .def_prop_ro("wall", [](const Controller& c) { return c.charges().wall(); })
      .def_prop_ro("overhead", [](const Controller& c) { return c.charges().overhead(); })
      .def("state", &Controller::state)
      .def("load", &Controller::load, "state"_a);
}

}  // namespace kolmo::python
