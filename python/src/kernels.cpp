#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <deque>

#include "kolmo/runtime/device.hpp"
#include "kolmo/runtime/kernel.hpp"
#include "python/src/allocation.hpp"
#include "python/src/array_view.hpp"
#include "python/src/module.hpp"
#include "python/src/released.hpp"

namespace kolmo::python {
namespace {

Kernel::Extent extent(const std::vector<unsigned>& e, const char* name) {
  if (e.empty() || e.size() > 3) fail<InvalidArgument>(std::string(name) + ": takes one to three numbers");
  return {e[0], e.size() > 1 ? e[1] : 1, e.size() > 2 ? e[2] : 1};
}

/// Launches a kernel. Arrays are passed as pointers, NumPy's scalars as values of their dtype.
void launch(const Kernel& kernel, const std::vector<unsigned>& grid, const std::vector<unsigned>& block,
            const nb::args& arguments, std::size_t shared, nb::handle stream,
            const std::string& given_device) {
  Device device{DeviceKind::cuda, 0};
  nb::object example;  // an array on a GPU
  for (const nb::handle a : arguments)
    if (!example && device_of(a, kernel.name()).kind == DeviceKind::cuda) example = nb::borrow(a);
  if (!given_device.empty())
    device = parse_device(given_device);
  else if (example)
    device = device_of(example, kernel.name());
  if (device.kind != DeviceKind::cuda)
    fail<Unsupported>(kernel.name() + ": a CUDA kernel runs on CUDA arrays, and these are on " +
                      to_string(device));
  const CurrentDevice current(device);
  const StreamPointer queue = stream_for(device, stream, library_stream(example, device));
  std::deque<ArrayView> views;
  std::deque<void*> pointers;
  std::vector<Kernel::Argument> all;
  std::size_t place = 0;
  for (const nb::handle a : arguments) {
    const std::string name = kernel.name() + ": argument " + std::to_string(place++);
    const ArrayView& v = views.emplace_back(a, name, &queue->stream);
    if (v.tensor.device.kind == DeviceKind::cuda)
      all.push_back({&pointers.emplace_back(v.tensor.data), sizeof(void*)});
    else if (v.tensor.rank == 0)
      all.push_back({v.tensor.data, size_of(v.tensor.dtype)});
    else
      fail<InvalidArgument>(name + " is on the CPU; pass a CUDA array or a scalar such as numpy.int32(3)");
  }
  const Released released;
  const std::scoped_lock lock(queue->mutex);
  kernel.queue(extent(grid, "grid"), extent(block, "block"), shared, queue->stream, all);
}

}  // namespace

void add_kernels(nb::module_& module) {
  nb::class_<Kernel>(module, "Kernel",
                     "Kernel(source, name, options=[])\n\n"
                     "A kernel in CUDA C++, compiled by NVRTC when it is first launched on a GPU. `name` may "
                     "be an expression\n"
                     "such as \"scale<float>\". Raises Unsupported where it cannot be compiled or run.")
      .def(
          "__init__",
          [](Kernel* self, std::string source, std::string name, std::vector<std::string> options) {
            new (self) Kernel(Kernel::from_source(std::move(source), std::move(name), std::move(options)));
          },
          nb::arg("source"), nb::arg("name"), nb::arg("options") = std::vector<std::string>{})
      .def_prop_ro("name", &Kernel::name)
      .def("launch", &launch, nb::arg("grid"), nb::arg("block"), nb::arg("arguments"), nb::kw_only(),
           nb::arg("shared") = 0, nb::arg("stream") = nb::none(), nb::arg("device") = "",
           "launch(grid, block, *arguments, shared=0, stream=None)\n\n"
           "Queue the kernel. `grid`, `block`: lists of one to three numbers. Arrays on a GPU enter as "
           "pointers, NumPy's\n"
           "scalars as values: numpy.int32(3). Their number and sizes are checked.");
}

}  // namespace kolmo::python
