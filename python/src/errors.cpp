#include <stdexcept>

#include "kolmo/base/error.hpp"
#include "python/src/module.hpp"

namespace kolmo::python {
namespace {

PyObject *base, *invalid_argument, *unsupported, *out_of_memory, *device_error;

PyObject* add(nb::module_& module, const char* name, const char* doc, PyObject* parent, PyObject* builtin) {
  const std::string full = "kolmo." + std::string(name);
  nb::object bases =
      parent ? nb::object(nb::make_tuple(nb::borrow(parent), nb::borrow(builtin))) : nb::borrow(builtin);
  PyObject* type = PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr);
  if (!type) nb::raise_python_error();
  module.attr(name) = nb::borrow(type);
  return type;
}

}  // namespace

void add_errors(nb::module_& module) {
  base = add(module, "Error", "Base of every exception of Kolmo.", nullptr, PyExc_Exception);
  invalid_argument =
      add(module, "InvalidArgument", "The arguments or the input are wrong.", base, PyExc_ValueError);
  unsupported = add(module, "Unsupported", "Valid, but this build or device does not support it.", base,
                    PyExc_NotImplementedError);
  out_of_memory = add(module, "OutOfMemory", "An allocation failed.", base, PyExc_MemoryError);
  device_error = add(module, "DeviceError", "The device failed.", base, PyExc_RuntimeError);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const InvalidArgument& e) {
      PyErr_SetString(invalid_argument, e.what());
    } catch (const Unsupported& e) {
      PyErr_SetString(unsupported, e.what());
    } catch (const OutOfMemory& e) {
      PyErr_SetString(out_of_memory, e.what());
    } catch (const DeviceError& e) {
      PyErr_SetString(device_error, e.what());
    } catch (const Error& e) {
      PyErr_SetString(base, e.what());
    } catch (const std::runtime_error& e) {  // thrown by the emulated GPU, or by the system
      PyErr_SetString(device_error, e.what());
    }
  });
}

void rethrow(const nb::python_error& error) {
  const std::string what = nb::str(error.value()).c_str();
  if (error.matches(invalid_argument)) fail<InvalidArgument>(what);
  if (error.matches(unsupported)) fail<Unsupported>(what);
  if (error.matches(PyExc_MemoryError)) fail<OutOfMemory>(what);
  if (error.matches(device_error)) fail<DeviceError>(what);
  if (error.matches(base)) fail<Error>(what);
  throw error;
}

}  // namespace kolmo::python
