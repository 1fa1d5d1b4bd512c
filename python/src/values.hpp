#pragma once
#include <nanobind/nanobind.h>

#include "kolmo/op/field.hpp"

namespace kolmo::python {

namespace nb = nanobind;

/// Converts a Python value to the value of an option: None, bool, int, float, the name of a choice, a list or
/// tuple of int. Throws nb::type_error for another type, and InvalidArgument for an integer beyond 64 bits or
/// an unknown choice.
Value value_of(const FieldInfo& field, nb::handle value);

/// Reads the dtype that an object names: "f32", "float32", numpy.float32, numpy.dtype("float32"),
/// torch.float32.
DType dtype_of_object(nb::handle object);

}  // namespace kolmo::python
