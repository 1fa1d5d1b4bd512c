#include "python/src/streams.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <map>
#include <string>
#include <utility>

#include "cli/context.hpp"
#include "kolmo/runtime/device.hpp"
#include "python/src/released.hpp"

namespace kolmo::python {
namespace {

StreamPointer of_this_thread(Device device) {
  thread_local std::map<std::pair<DeviceKind, int>, StreamPointer> streams;
  StreamPointer& known = streams[{device.kind, device.index}];
  if (!known) {
    known = std::make_shared<SharedStream>(Stream(device));
    cli::use_tuning_once(device);
  }
  return known;
}

/// Borrows a stream of the arrays' library. Such libraries keep their streams as long as the process lives.
StreamPointer of_library(Device device, void* handle) {
  static std::mutex mutex;
  static auto& streams = *new std::map<std::pair<int, void*>, StreamPointer>;
  const std::scoped_lock lock(mutex);
  StreamPointer& known = streams[{device.index, handle}];
  if (!known) {
    known = std::make_shared<SharedStream>(Stream::borrow(device, handle));
    cli::use_tuning_once(device);
  }
  return known;
}

void* handle_of(nb::handle given) {
  if (nb::hasattr(given, "__cuda_stream__")) {
    const nb::object pair = given.attr("__cuda_stream__")();  // (version, handle)
    return reinterpret_cast<void*>(nb::cast<std::uintptr_t>(nb::int_(pair[1])));
  }
  const nb::object value =
      nb::hasattr(given, "cuda_stream") ? nb::object(given.attr("cuda_stream")) : nb::borrow(given);
  if (!PyLong_Check(value.ptr()) || PyBool_Check(value.ptr()))
    throw nb::type_error(
        "stream: takes None, a kolmo.Stream, or another library's CUDA stream or its handle");
  int overflow = 0;
  const std::intptr_t handle = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow || handle < 0 || handle == 2)
    fail<InvalidArgument>("stream: " + std::string(nb::str(value).c_str()) +
                          " is no stream that work can be queued on");
  return reinterpret_cast<void*>(handle == 1 ? 0 : handle);  // 1: the legacy default stream in DLPack
}

}  // namespace

StreamPointer stream_for(Device device, nb::handle given, void* library_handle) {
  if (given.is_none())
    return device.kind == DeviceKind::cuda ? of_library(device, library_handle) : of_this_thread(device);
  if (StreamPointer own; nb::try_cast(given, own, false) && own) {
    if (own->stream.device() != device)
      fail<InvalidArgument>("stream: is on " + to_string(own->stream.device()) + ", the arrays on " +
                            to_string(device));
    return own;
  }
  void* const handle = handle_of(given);
  if (device.kind != DeviceKind::cuda)
    fail<InvalidArgument>("stream: a CUDA stream, and the arrays are on " + to_string(device));
  return std::make_shared<SharedStream>(Stream::borrow(device, handle));
}

void add_streams(nb::module_& module) {
  nb::class_<SharedStream>(module, "Stream",
                           "Stream(device='cpu', threads=0)\n\n"
                           "A queue of work on one device, in order. `threads`: of the CPU, 0 for all.\n"
                           "Threads of Python may share a stream; each call waits for its turn.")
      .def(
          "__init__",
          [](SharedStream* self, const std::string& device, int threads) {
            if (threads < 0) fail<InvalidArgument>("threads: must not be negative");
            const Device wanted = parse_device(device);
            const CurrentDevice current(wanted);
            new (self) SharedStream(Stream(wanted, threads));
          },
          nb::arg("device") = "cpu", nb::arg("threads") = 0)
      .def_prop_ro("device", [](const SharedStream& s) { return to_string(s.stream.device()); })
      .def_prop_ro("threads", [](const SharedStream& s) { return s.stream.threads(); })
      .def(
          "synchronize",
          [](SharedStream& s) {
            const Released released;
            const std::scoped_lock lock(s.mutex);
            s.stream.synchronize();
          },
          "Wait for the queued work. Raises InvalidArgument if an operator in it met faulty data.")
      .def(
          "check_data",
          [](SharedStream& s, bool checked) {
            const Released released;
            const std::scoped_lock lock(s.mutex);
            s.stream.check_data(checked);
          },
          nb::arg("checked"), "With False, operators skip checks of their data that cost time.")
      .def("__cuda_stream__",
           [](const SharedStream& s) {
             if (s.stream.device().kind != DeviceKind::cuda)
               fail<Unsupported>("stream: is not on a CUDA device");
             return nb::make_tuple(0, reinterpret_cast<std::uintptr_t>(s.stream.native()));
           })
      .def("__repr__",
           [](const SharedStream& s) { return "<kolmo.Stream on " + to_string(s.stream.device()) + ">"; });
}

}  // namespace kolmo::python
