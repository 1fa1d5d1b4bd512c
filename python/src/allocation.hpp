#pragma once
#include <nanobind/nanobind.h>

#include <span>

#include "kolmo/op/registry.hpp"
#include "python/src/owned_array.hpp"

namespace kolmo::python {

/// Whether this is an array of NumPy, or of a class derived from it.
bool is_numpy(nb::handle array);
/// Whether this is an array of NumPy itself, which has no mask.
bool is_plain_numpy(nb::handle array);
/// Whether this is an array of NumPy that has masked elements.
bool is_masked(nb::handle array);
/// Makes a new array in the library of `example` (in NumPy if there is none), by kolmo._arrays. Null if that
/// library cannot make an array that is written later.
nb::object allocate_like(nb::handle example, DType dtype, std::span<const std::int64_t> shape, Device device);
/// Hands a kolmo.Array over as an array of the library of `example`, without a copy. Without an example,
/// returns it as it is.
nb::object hand_over(nb::handle example, nb::object array);
/// Returns the CUDA stream that is current in the library of `example`.
void* library_stream(nb::handle example, Device device);
/// Returns several outputs as a named tuple.
nb::object named_results(const OpEntry& entry, const nb::tuple& outputs);

}  // namespace kolmo::python
