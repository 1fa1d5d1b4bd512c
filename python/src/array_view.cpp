#include "python/src/array_view.hpp"

#include <string_view>
#include <utility>

#include "python/src/allocation.hpp"
#include "python/src/dlpack.hpp"

namespace kolmo::python {
namespace {

constexpr DType by_size(std::size_t bytes, DType one, DType two, DType four, DType eight) {
  return bytes == 1 ? one : bytes == 2 ? two : bytes == 4 ? four : eight;
}

/// The dtype of a buffer's format, as the module `struct` of Python writes it.
DType dtype_of_format(const char* format, std::size_t bytes, const std::string& name) {
  const std::string_view full = format ? format : "B";
  const bool marked = !full.empty() && std::string_view("@=<>!").find(full[0]) != full.npos;
  const bool swapped = bytes > 1 && marked && (full[0] == '>' || full[0] == '!');
  const std::string_view code = full.substr(marked);
  if (!swapped && code.size() == 1) switch (code[0]) {
      case 'd':
        return DType::f64;
      case 'f':
        return DType::f32;
      case 'e':
        return DType::f16;
      case '?':
        return DType::boolean;
      case 'b':
      case 'h':
      case 'i':
      case 'l':
      case 'q':
      case 'n':
        return by_size(bytes, DType::i8, DType::i16, DType::i32, DType::i64);
      case 'B':
      case 'H':
      case 'I':
      case 'L':
      case 'Q':
      case 'N':
        return by_size(bytes, DType::u8, DType::u16, DType::u32, DType::u64);
      default:
        break;
    }
  if (!swapped && code == "Zd") return DType::c128;
  if (!swapped && code == "Zf") return DType::c64;
  fail<InvalidArgument>(name +
                        (swapped ? " has bytes in the order of another machine (format '"
                                 : " has elements that no operator takes (format '") +
                        std::string(full) + "')");
}

DType dtype_of(dlpack::DataType given, const std::string& name) {
  for (const DType t : all_dtypes) {
    const dlpack::DataType known = dlpack::of(t);
    if (known.code == given.code && known.bits == given.bits && given.lanes == 1) return t;
  }
  fail<InvalidArgument>(name + " has elements that no operator takes (DLPack code " +
                        std::to_string(given.code) + ", " + std::to_string(given.bits) + " bits, " +
                        std::to_string(given.lanes) + " lanes)");
}

Device device_of(dlpack::Device d, const std::string& name) {
  if (d.type == dlpack::cpu || d.type == dlpack::cuda_host) return {};
  if (d.type == dlpack::cuda || d.type == dlpack::cuda_managed) return {DeviceKind::cuda, d.index};
  fail<Unsupported>(name + " is on a device of another kind (DLPack type " + std::to_string(d.type) + ")");
}

void check_rank(int rank, const std::string& name) {
  if (rank > max_rank)
    fail<InvalidArgument>(name + " has " + std::to_string(rank) + " dimensions; a tensor has at most 6");
}

void check_alignment(const Tensor& t, const std::string& name) {
  const std::size_t unit = size_of(real_of(t.dtype));
  if (reinterpret_cast<std::uintptr_t>(t.data) % unit)
    fail<InvalidArgument>(name + " is not aligned; kolmo.contiguous(" + name + ") copies it");
}

/// Whether Python's buffer protocol can read the array. A type has the protocol or not: an array of JAX on a
/// GPU has it, but reading fails.
bool has_buffer(nb::handle array, const std::string& name) {
  return PyObject_CheckBuffer(array.ptr()) &&
         (is_numpy(array) || python::device_of(array, name).kind == DeviceKind::cpu);
}

}  // namespace

ArrayView::ArrayView(nb::handle array, const std::string& name, Stream* stream) {
  if (has_buffer(array, name) && !PyBytes_Check(array.ptr()) && !PyByteArray_Check(array.ptr()))
    read_buffer(array, name);
  else if (nb::hasattr(array, "__dlpack__"))
    read_capsule(array, name, stream);
  else
    throw nb::type_error((name + " takes an array (NumPy, PyTorch, or any with __dlpack__), not " +
                          nb::type_name(array.type()).c_str())
                             .c_str());
  check_alignment(tensor, name);
}

void ArrayView::read_buffer(nb::handle array, const std::string& name) {
  Py_buffer& buffer = held_.buffer;
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_RECORDS_RO)) {
    nb::python_error error;  // dates and other elements have no format
    fail<InvalidArgument>(name + " cannot be read: " + nb::str(error.value()).c_str());
  }
  read_only = buffer.readonly;
  check_rank(buffer.ndim, name);
  const auto bytes = std::size_t(buffer.itemsize);
  tensor = {buffer.buf, dtype_of_format(buffer.format, bytes, name), {}, buffer.ndim, {}, {}};
  for (int d = 0; d < buffer.ndim; ++d) {
    const auto at = std::size_t(d);
    tensor.extent[at] = buffer.shape[d];
    if (buffer.strides[d] % buffer.itemsize)
      fail<InvalidArgument>(name + " has strides that are no multiples of its elements; kolmo.contiguous(" +
                            name + ") copies it");
    tensor.stride[at] = buffer.strides[d] / buffer.itemsize;
  }
}

void ArrayView::read_capsule(nb::handle array, const std::string& name, Stream* stream) {
  const Device device = python::device_of(array, name);
  nb::dict keywords;
  if (device.kind == DeviceKind::cuda) {
    if (stream && stream->device() != device)
      fail<InvalidArgument>(name + " is on " + to_string(device) + ", the work on " +
                            to_string(stream->device()) + "; nothing is copied between devices");
    const auto handle = stream ? reinterpret_cast<std::uintptr_t>(stream->native()) : 0;
    keywords["stream"] = handle ? handle : 1;  // 1 stands for the legacy default stream
  }
  keywords["max_version"] = nb::make_tuple(1, 0);
  const nb::object exported = array.attr("__dlpack__");
  try {
    try {
      capsule_ = exported(**keywords);
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_TypeError)) throw;
      PyDict_DelItemString(keywords.ptr(), "max_version");  // for a library from before DLPack 1
      capsule_ = exported(**keywords);
    }
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_KeyboardInterrupt)) throw;
    fail<InvalidArgument>(name + " cannot be read: " + nb::str(error.value()).c_str());
  }
  dlpack::Tensor* given = nullptr;
  if (auto* const now = static_cast<dlpack::ManagedVersioned*>(
          PyCapsule_GetPointer(capsule_.ptr(), "dltensor_versioned"))) {
    if (now->major != 1) fail<Unsupported>(name + " is handed over by DLPack " + std::to_string(now->major));
    given = &now->tensor;
    read_only = now->flags & dlpack::read_only;
  } else {
    PyErr_Clear();
    auto* const before = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule_.ptr(), "dltensor"));
    if (!before) throw nb::python_error();
    given = &before->tensor;
  }
  check_rank(given->rank, name);
  Extents shape;
  for (int d = 0; d < given->rank; ++d) shape.push(given->shape[d]);
  tensor = kolmo::tensor(static_cast<std::byte*>(given->data) + given->byte_offset,
                         dtype_of(given->dtype, name), shape, device_of(given->device, name));
  if (given->strides)
    for (int d = 0; d < given->rank; ++d) tensor.stride[std::size_t(d)] = given->strides[d];
}

Device device_of(nb::handle array, const std::string& name) {
  if (is_numpy(array) || !nb::hasattr(array, "__dlpack_device__")) return {};
  const nb::object pair = array.attr("__dlpack_device__")();
  return device_of(
      dlpack::Device{nb::cast<std::int32_t>(nb::int_(pair[0])), nb::cast<std::int32_t>(nb::int_(pair[1]))},
      name);
}

}  // namespace kolmo::python
