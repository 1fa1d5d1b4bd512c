#pragma once
#include <nanobind/nanobind.h>

#include <string>

#include "kolmo/op/shape.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo::python {

namespace nb = nanobind;

/// A view of an array of another library, without a copy: of NumPy's buffer, or of what `__dlpack__` hands
/// over. On a GPU the array must be ready for work on `stream` (if there is none, on the legacy default
/// stream), which `__dlpack__` is asked for. The memory is held until the view is destroyed, which needs the
/// GIL. Throws InvalidArgument, which begins with `name`, for a dtype or layout that Kolmo does not have and
/// for another GPU than that of `stream`; Unsupported for other kinds of device; and nb::type_error for
/// anything that is not an array.
class ArrayView {
 public:
  ArrayView(nb::handle array, const std::string& name, Stream* stream = nullptr);
  ArrayView(const ArrayView&) = delete;

  Tensor tensor;
  bool read_only = false;

 private:
  void read_buffer(nb::handle array, const std::string& name);
  void read_capsule(nb::handle array, const std::string& name, Stream* stream);

  struct Held {
    ~Held() {
      if (buffer.obj) PyBuffer_Release(&buffer);
    }
    Py_buffer buffer{};
  } held_;
  nb::object capsule_;
};

/// The device of an array: cpu for buffers, otherwise what `__dlpack_device__` says.
Device device_of(nb::handle array, const std::string& name);

}  // namespace kolmo::python
