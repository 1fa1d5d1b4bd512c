#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "cli/describe.hpp"
#include "python/src/operator.hpp"

namespace kolmo::python {

void add_operators(nb::module_& module) {
  nb::class_<Operator>(module, "Operator", nb::dynamic_attr(),
                       "An operator of the catalogue, or one of its aliases.")
      .def("__init__", [](Operator* self, const std::string& name) { new (self) Operator(find_op(name)); })
      .def("__call__", &Operator::call)
      .def(
          "describe", [](const Operator& o) { return cli::op_json(o.entry()).dump(); },
          "What the operator says of itself, as JSON: that of `kolmo info NAME --json`.");
  module.def("names", [] {
    std::vector<std::string> all;
    for (const OpEntry& e : all_names()) all.emplace_back(e.name());
    return all;
  });
  module.def("is_contiguous", [](nb::handle x) { return ArrayView(x, "x").tensor.contiguous(); });
  module.def("devices", [] {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const DeviceInfo& d : devices()) all.push_back(cli::device_json(d));
    return all.dump();
  });
}

}  // namespace kolmo::python
