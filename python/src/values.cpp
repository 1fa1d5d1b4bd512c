#include "python/src/values.hpp"

#include <cmath>
#include <string>
#include <string_view>

namespace kolmo::python {
namespace {

[[noreturn]] void wants(const char* what, nb::handle value) {
  throw nb::type_error(
      (std::string("takes ") + what + ", not " + nb::type_name(value.type()).c_str()).c_str());
}

/// Reads an exact integer: an int, or an object whose __index__ says that it is one.
nb::object integer(nb::handle value, const char* what) {
  if (PyBool_Check(value.ptr())) wants(what, value);
  PyObject* const index = PyNumber_Index(value.ptr());
  if (!index) {
    PyErr_Clear();
    wants(what, value);
  }
  return nb::steal(index);
}

std::int64_t int64_of(const FieldInfo& f, nb::handle value) {
  const nb::object index = integer(value, "a whole number");
  int overflow = 0;
  const long long i = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow)
    fail<InvalidArgument>(std::string(f.name) + " is " + nb::str(index).c_str() + ", beyond 64 bits");
  return i;
}

constexpr struct {
  std::string_view name;
  DType dtype;
} long_names[] = {{"float64", DType::f64},     {"float32", DType::f32},   {"float16", DType::f16},
                  {"bfloat16", DType::bf16},   {"int64", DType::i64},     {"int32", DType::i32},
                  {"int16", DType::i16},       {"int8", DType::i8},       {"uint64", DType::u64},
                  {"uint32", DType::u32},      {"uint16", DType::u16},    {"uint8", DType::u8},
                  {"complex128", DType::c128}, {"complex64", DType::c64}, {"bool", DType::boolean},
                  {"double", DType::f64},      {"float", DType::f64},     {"half", DType::f16},
                  {"int", DType::i64},         {"complex", DType::c128},  {"bool_", DType::boolean}};

}  // namespace

Value value_of(const FieldInfo& f, nb::handle value) {
  if (value.is_none()) {
    if (!f.optional) wants(f.kind == FieldKind::choice ? "a name" : "a value", value);
    return {};
  }
  switch (f.kind) {
    case FieldKind::flag:
      if (!PyBool_Check(value.ptr())) wants("True or False", value);
      return Value::of(ValueKind::flag, value.is(Py_True));
    case FieldKind::choice:
      if (!PyUnicode_Check(value.ptr())) wants("a name", value);
      return f.parse(nb::borrow<nb::str>(value).c_str());
    case FieldKind::integer:
      return Value::of(int64_of(f, value));
    case FieldKind::natural: {
      const nb::object index = integer(value, "a whole number");
      const auto n = std::uint64_t(PyLong_AsUnsignedLongLong(index.ptr()));
      if (PyErr_Occurred()) {
        PyErr_Clear();
        fail<InvalidArgument>(std::string(f.name) + " is " + nb::str(index).c_str() + ", not in " +
                              f.range());
      }
      return Value::of(n);
    }
    case FieldKind::list: {
      Integers all;
      if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) wants("a list of whole numbers", value);
      const std::size_t n = nb::len(value);
      if (n > std::size_t(Integers::capacity))
        fail<InvalidArgument>(std::string(f.name) + " has " + std::to_string(n) + " items; at most " +
                              std::to_string(Integers::capacity) + " are taken");
      for (std::size_t i = 0; i < n; ++i) all.items[all.count++] = int64_of(f, value[i]);
      return Value::of(all);
    }
    default:
      if (PyBool_Check(value.ptr())) wants("a number", value);
      const double x = PyFloat_AsDouble(value.ptr());
      if (PyErr_Occurred()) {
        PyErr_Clear();
        wants("a number", value);
      }
      return Value::of(x);
  }
}

DType dtype_of_object(nb::handle object) {
  nb::object named = nb::borrow(object);
  if (nb::hasattr(object, "__name__"))
    named = object.attr("__name__");  // numpy.float32
  else if (nb::hasattr(object, "name"))
    named = object.attr("name");  // numpy.dtype
  std::string text = nb::str(named).c_str();
  if (const auto dot = text.rfind('.'); dot != std::string::npos) text.erase(0, dot + 1);  // torch.float32
  for (const DType t : all_dtypes)
    if (text == to_string(t)) return t;
  for (const auto& [name, dtype] : long_names)
    if (text == name) return dtype;
  fail<InvalidArgument>("dtype: '" + text + "' is none that operators take");
}

}  // namespace kolmo::python
