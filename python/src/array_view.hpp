#pragma once
#include <nanobind/nanobind.h>

#include <string>

#include "kolmo/op/shape.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo::python {

namespace nb = nanobind;

/// A view of an array of another library, without a copy: NumPy's buffer, or what `__dlpack__` hands over, which on a GPU is
/// asked to be ready for work on `stream` (without one, on the legacy default stream). The memory is held until the view
/// is destroyed, with the GIL. Throws InvalidArgument, which begins with `name`, for a dtype or layout that Kolmo has not
/// and for a GPU that is not that of `stream`, Unsupported for other kinds of device, and nb::type_error for what is no
/// array.
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

/// The device of an array: cpu for buffers, else what `__dlpack_device__` says.
Device device_of(nb::handle array, const std::string& name);

}  // namespace kolmo::python
