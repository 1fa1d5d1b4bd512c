#pragma once
#include <nanobind/nanobind.h>

#include <span>

#include "kolmo/runtime/array.hpp"
#include "python/src/streams.hpp"

namespace kolmo::python {

/// kolmo.Array: an array in Kolmo's memory, for libraries whose arrays Kolmo cannot allocate. They take it
/// over without a copy by `from_dlpack`.
struct OwnedArray {
  OwnedArray(DType dtype, std::span<const std::int64_t> shape, StreamPointer stream);
  ~OwnedArray();
  OwnedArray(const OwnedArray&) = delete;
  OwnedArray& operator=(const OwnedArray&) = delete;

  kolmo::Array array;
  StreamPointer stream;  ///< the stream that writes the array
};

void add_owned_array(nb::module_& module);

}  // namespace kolmo::python
