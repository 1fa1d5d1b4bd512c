#include "kolmo/command.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "kolmo/runtime/device.hpp"
#include "python/src/released.hpp"

namespace kolmo::python {

void add_command(nb::module_& module) {
  module.def(
      "command",
      [](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "kolmo");
        std::vector<char*> argv;
        for (std::string& argument : arguments) argv.push_back(argument.data());
        argv.push_back(nullptr);
        return kolmo::command(static_cast<int>(arguments.size()), argv.data());
      },
      nb::arg("arguments"), nb::call_guard<Released, CurrentDevice>(),
      "Runs the kolmo command in this process, whose signal handlers it replaces; returns the exit status.");
}

}  // namespace kolmo::python
