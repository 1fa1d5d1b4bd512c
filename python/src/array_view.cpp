#include "python/src/array_view.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "python/src/allocation.hpp"
#include "python/src/dlpack.hpp"

namespace kolmo::python {
namespace {

constexpr DType by_size(std::size_t bytes, DType one, DType two, DType four, DType eight) {
  return bytes == 1 ? one : bytes == 2 ? two : bytes == 4 ? four : eight;
}

/// The dtype that a code of the module `struct` of Python names. Exporters disagree on the size of some integers, so their
/// number of bytes decides.
std::optional<DType> dtype_of_code(std::string_view code, std::size_t bytes) {
  if (code == "Zd") return DType::c128;
  if (code == "Zf") return DType::c64;
  if (code.size() == 1) switch (code[0]) {
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
  return {};
}

/// The dtype of a buffer's format, with the byte order that may stand before its code.
DType dtype_of_format(const char* format, std::size_t bytes, const std::string& name) {
  const std::string_view full = format ? format : "B";
  const bool marked = !full.empty() && std::string_view("@=<>!").find(full[0]) != full.npos;
  const bool swapped = bytes > 1 && marked && (full[0] == '>' || full[0] == '!');
  const std::optional<DType> dtype = dtype_of_code(full.substr(marked), bytes);
  if (!swapped && dtype && size_of(*dtype) == bytes) return *dtype;
  fail<InvalidArgument>(name +
                        (swapped ? " has bytes in the order of another machine (format '"
                                 : " has elements that no operator takes (format '") +
                        std::string(full) + "' of " + std::to_string(bytes) + " bytes)");
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
  if (rank < 0) fail<InvalidArgument>(name + " has a negative number of dimensions");
  if (rank > max_rank)
    fail<InvalidArgument>(name + " has " + std::to_string(rank) + " dimensions; a tensor has at most 6");
}

void check_alignment(const Tensor& t, const std::string& name) {
  const std::size_t unit = size_of(real_of(t.dtype));
  if (reinterpret_cast<std::uintptr_t>(t.data) % unit)
    fail<InvalidArgument>(name + " is not aligned; kolmo.contiguous(" + name + ") copies it");
}

/// Refuses what an exporter must not say: negative extents, more elements than can be counted, or elements
/// without memory.
void check_extents(const Extents& shape, DType dtype, const void* data, const std::string& name) {
  for (const std::int64_t extent : shape)
    if (extent < 0) fail<InvalidArgument>(name + " has a negative extent");
  auto bytes = std::int64_t(size_of(dtype));
  bool empty = false, large = false;
  for (const std::int64_t extent : shape) {
    empty |= extent == 0;
    large |= __builtin_mul_overflow(bytes, std::max<std::int64_t>(extent, 1), &bytes);
  }
  if (large) fail<InvalidArgument>(name + " has more elements than can be counted");
  if (!data && !empty) fail<InvalidArgument>(name + " has elements and no memory");
}

/// Refuses what a buffer cannot say of its elements: that they are dates, or that a mask leaves some of them out.
void check_meaning(nb::handle array, const std::string& name) {
  if (is_plain_numpy(array)) return;
  const nb::object kind = nb::getattr(nb::getattr(array, "dtype", nb::none()), "kind", nb::none());
  if (kind.equal(nb::str("M")) || kind.equal(nb::str("m")))
    fail<InvalidArgument>(name +
                          " holds dates or times, and operators take numbers; astype('int64') gives them");
  if (is_masked(array))
    fail<InvalidArgument>(name + " has masked elements; filled(value) gives each of them a value");
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
  check_meaning(array, name);
  Py_buffer& buffer = held_.buffer;
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_RECORDS_RO)) {
    buffer.obj = nullptr;  // some exporters leave it there, and some say no reason
    if (!PyErr_Occurred()) fail<InvalidArgument>(name + " cannot be read as a buffer");
    nb::python_error error;  // dates and other elements have no format
    fail<InvalidArgument>(name + " cannot be read: " + nb::str(error.value()).c_str());
  }
  read_only = buffer.readonly;
  check_rank(buffer.ndim, name);
  const auto bytes = std::size_t(buffer.itemsize);
  const DType dtype = dtype_of_format(buffer.format, bytes, name);
  for (int d = 0; buffer.suboffsets && d < buffer.ndim; ++d)
    if (buffer.suboffsets[d] >= 0)
      fail<InvalidArgument>(name + " has rows behind pointers; kolmo reads strides");
  Extents shape;
  if (!buffer.shape && buffer.ndim > 1) fail<InvalidArgument>(name + " has dimensions without extents");
  for (int d = 0; d < buffer.ndim; ++d)
    shape.push(buffer.shape ? buffer.shape[d] : buffer.len / buffer.itemsize);
  check_extents(shape, dtype, buffer.buf, name);
  tensor = kolmo::tensor(buffer.buf, dtype, shape);
  if (!buffer.strides) return;  // in order, as ctypes leaves it
  for (int d = 0; d < buffer.ndim; ++d) {
    if (buffer.strides[d] % buffer.itemsize)
      fail<InvalidArgument>(name + " has strides that are no multiples of its elements; kolmo.contiguous(" +
                            name + ") copies it");
    tensor.stride[std::size_t(d)] = buffer.strides[d] / buffer.itemsize;
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
  const DType dtype = dtype_of(given->dtype, name);
  check_extents(shape, dtype, given->data, name);
  tensor = kolmo::tensor(static_cast<std::byte*>(given->data) + given->byte_offset, dtype, shape,
                         device_of(given->device, name));
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
