#include "python/src/allocation.hpp"

#include <array>
#include <string>

namespace kolmo::python {
namespace {

/// An attribute of a Python module, looked up once. It is never released, since the interpreter may be gone
/// by then.
class Imported {
 public:
  constexpr Imported(const char* module, const char* name) : module_(module), name_(name) {}
  nb::handle get() {
    if (!object_.is_valid()) object_ = nb::object(nb::module_::import_(module_).attr(name_)).release();
    return object_;
  }

 private:
  const char *module_, *name_;
  nb::handle object_;
};

Imported ndarray{"numpy", "ndarray"}, numpy_empty{"numpy", "empty"}, numpy_dtype{"numpy", "dtype"};
Imported numpy_is_masked{"numpy.ma", "is_masked"};
Imported empty{"kolmo._arrays", "empty"}, take{"kolmo._arrays", "take"};
Imported current_stream{"kolmo._arrays", "current_stream"}, result{"kolmo._arrays", "result"};

constexpr const char* numpy_names[] = {"float64", "float32", "float16",    "bfloat16",  "int64",
                                       "int32",   "uint8",   "complex128", "complex64", "int16",
                                       "int8",    "uint64",  "uint32",     "uint16",    "bool"};
static_assert(std::size(numpy_names) == std::size(all_dtypes));

nb::handle dtype_for_numpy(DType t) {
  static std::array<nb::handle, std::size(all_dtypes)> known;
  nb::handle& d = known[std::size_t(t)];
  if (!d.is_valid()) d = nb::object(numpy_dtype.get()(numpy_names[std::size_t(t)])).release();
  return d;
}

nb::tuple tuple_of(std::span<const std::int64_t> shape) {
  PyObject* const t = PyTuple_New(Py_ssize_t(shape.size()));
  if (!t) throw nb::python_error();
  for (std::size_t i = 0; i < shape.size(); ++i)
    PyTuple_SetItem(t, Py_ssize_t(i), PyLong_FromLongLong(shape[i]));
  return nb::steal<nb::tuple>(t);
}

}  // namespace

bool is_numpy(nb::handle array) {
  return PyObject_TypeCheck(array.ptr(), reinterpret_cast<PyTypeObject*>(ndarray.get().ptr()));
}

bool is_plain_numpy(nb::handle array) { return array.type().is(ndarray.get()); }

bool is_masked(nb::handle array) {
  return is_numpy(array) && nb::hasattr(array, "mask") && nb::cast<bool>(numpy_is_masked.get()(array));
}

nb::object allocate_like(nb::handle example, DType dtype, std::span<const std::int64_t> shape,
                         Device device) {
  const bool plain = !example.is_valid() || is_numpy(example);
  if (plain && device.kind == DeviceKind::cuda) return {};
  if (plain && dtype != DType::bf16) return numpy_empty.get()(tuple_of(shape), dtype_for_numpy(dtype));
  if (plain) return {};
  nb::object made = empty.get()(example, tuple_of(shape), numpy_names[std::size_t(dtype)]);
  return made.is_none() ? nb::object() : made;
}

nb::object hand_over(nb::handle example, nb::object array) {
  return example.is_valid() ? nb::object(take.get()(example, array)) : array;
}

void* library_stream(nb::handle example, Device device) {
  if (!example.is_valid()) return nullptr;
  return reinterpret_cast<void*>(
      nb::cast<std::uintptr_t>(nb::object(current_stream.get()(example, device.index))));
}

nb::object named_results(const OpEntry& entry, const nb::tuple& outputs) {
  return result.get()(std::string(entry.name()).c_str(), outputs);
}

}  // namespace kolmo::python
