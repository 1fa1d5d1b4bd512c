#pragma once
#include <nanobind/nanobind.h>

#include <span>

#include "kolmo/op/registry.hpp"
#include "python/src/owned_array.hpp"

namespace kolmo::python {

/// An array of NumPy, or of a class derived from it.
bool is_numpy(nb::handle array);
/// A new array in the library of `example` (NumPy without one), by kolmo._arrays; null if that library cannot make one that
/// is written later.
nb::object allocate_like(nb::handle example, DType dtype, std::span<const std::int64_t> shape, Device device);
/// A kolmo.Array as an array of the library of `example`, without a copy; itself without an example.
nb::object hand_over(nb::handle example, nb::object array);
/// The CUDA stream that is current in the library of `example`.
void* library_stream(nb::handle example, Device device);
/// Several outputs as a named tuple.
nb::object named_results(const OpEntry& entry, const nb::tuple& outputs);

}  // namespace kolmo::python
