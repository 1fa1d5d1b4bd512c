#pragma once
#include <nanobind/nanobind.h>

namespace kolmo::python {

namespace nb = nanobind;

void add_command(nb::module_& module);
void add_errors(nb::module_& module);
/// Throws the Kolmo exception that corresponds to a Python exception, or else that exception itself. Needs
/// the GIL.
[[noreturn]] void rethrow(const nb::python_error& error);
void add_flow(nb::module_& module);
void add_predict(nb::module_& module);
void add_decide(nb::module_& module);
void add_control(nb::module_& module);
void add_cases(nb::module_& module);
void add_kernels(nb::module_& module);
void add_management(nb::module_& module);
void add_topology(nb::module_& module);
void add_shapes(nb::module_& module);

}  // namespace kolmo::python
