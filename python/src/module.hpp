#pragma once
#include <nanobind/nanobind.h>

namespace kolmo::python {

namespace nb = nanobind;

void add_command(nb::module_& module);
void add_errors(nb::module_& module);
/// Throws Kolmo's exception that an exception of Python stands for, else that one. With the GIL.
[[noreturn]] void rethrow(const nb::python_error& error);
void add_flow(nb::module_& module);
void add_cases(nb::module_& module);
void add_kernels(nb::module_& module);
void add_management(nb::module_& module);
void add_shapes(nb::module_& module);

}  // namespace kolmo::python
