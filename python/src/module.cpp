#include "python/src/module.hpp"

#include <nanobind/stl/string.h>

#include "kolmo/version.hpp"
#include "python/src/operator.hpp"
#include "python/src/owned_array.hpp"
#include "python/src/released.hpp"
#include "python/src/streams.hpp"

namespace kolmo::python {

NB_MODULE(_kolmo, module) {
  nb::set_leak_warnings(false);  // operators live as long as the module
  add_released(module);
  add_errors(module);
  add_flow(module);
  add_predict(module);
  add_decide(module);
  add_control(module);
  add_topology(module);
  add_command(module);
  add_streams(module);
  add_owned_array(module);
  add_operators(module);
  add_cases(module);
  add_kernels(module);
  add_management(module);
  add_shapes(module);
  module.def("version", [] { return std::string(kolmo::version()); });
  module.def("commit", [] { return std::string(kolmo::commit()); });
}

}  // namespace kolmo::python
