#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>

#include "kolmo/runtime/stream.hpp"

namespace kolmo::python {

namespace nb = nanobind;

/// A stream that Python threads share: one at a time holds the mutex while it queues work.
struct SharedStream {
  explicit SharedStream(Stream s) : stream(std::move(s)) {}
  Stream stream;
  std::mutex mutex;
};
using StreamPointer = std::shared_ptr<SharedStream>;

/// Returns the stream for work on `device`. `given` is None, a kolmo.Stream, an integer (a CUDA stream's
/// handle), or an object with `__cuda_stream__` or `cuda_stream`. With None it is, on the CPU, a stream of
/// this thread; on CUDA `library_handle`, the stream that is current in the arrays' library. Throws
/// InvalidArgument for a stream of another device, nb::type_error for other objects.
StreamPointer stream_for(Device device, nb::handle given, void* library_handle);

void add_streams(nb::module_& module);

}  // namespace kolmo::python
