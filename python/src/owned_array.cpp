#include "python/src/owned_array.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <string_view>

#include "kolmo/runtime/device.hpp"
#include "python/src/dlpack.hpp"
#include "python/src/released.hpp"

namespace kolmo::python {
namespace {

using Pointer = std::shared_ptr<OwnedArray>;

dlpack::Device device_of(const OwnedArray& a) {
  const Device d = a.array.tensor.device;
  return d.kind == DeviceKind::cuda ? dlpack::Device{dlpack::cuda, d.index} : dlpack::Device{dlpack::cpu, 0};
}

/// What a consumer receives: the array lives until the consumer calls the deleter, from any thread, with or
/// without the GIL.
template <class Managed>
struct Export {
  explicit Export(Pointer a) : owner(std::move(a)) {
    Tensor& t = owner->array.tensor;
    managed.tensor = {t.data,          device_of(*owner), t.rank, dlpack::of(t.dtype),
                      t.extent.data(), t.stride.data(),   0};
    managed.context = this;
    managed.deleter = [](Managed* m) { delete static_cast<Export*>(m->context); };
  }
  Pointer owner;
  Managed managed{};
};

template <class Managed>
nb::object capsule(const Pointer& array, const char* name) {
  auto* const exported = new Export<Managed>(array);
  PyObject* const made = PyCapsule_New(&exported->managed, name, [](PyObject* c) {
    const char* const now = PyCapsule_GetName(c);  // named "used_..." once a consumer took it
    if (!now || std::string_view(now).starts_with("used")) return;
    auto* const m = static_cast<Managed*>(PyCapsule_GetPointer(c, now));
    m->deleter(m);
  });
  if (!made) {
    delete exported;
    throw nb::python_error();
  }
  return nb::steal(made);
}

/// Makes work that is queued on the consumer's stream from now on wait for the array. `stream` means what it
/// does in the array API: None and 1 are the legacy default stream, 2 is the default stream of each thread,
/// -1 is none.
void order(OwnedArray& a, nb::handle stream) {
  if (a.array.tensor.device.kind != DeviceKind::cuda) {
    if (!stream.is_none()) fail<InvalidArgument>("kolmo.Array: stream must be None for an array on the CPU");
    return;
  }
  const std::int64_t handle = stream.is_none() ? 1 : nb::cast<std::int64_t>(stream);
  if (handle == -1) return;
  const Released released;
  const CurrentDevice current(a.array.tensor.device);
  const std::scoped_lock lock(a.stream->mutex);
  Stream& own = a.stream->stream;
  if (handle == 2) return own.synchronize();  // 2 is a different stream in each thread
  void* const native = reinterpret_cast<void*>(handle == 1 ? 0 : handle);
  if (native == own.native()) return;
  Event done(own.device(), false);
  done.record(own);
  Stream::borrow(own.device(), native).wait(done);
}

nb::object export_to(const Pointer& a, nb::handle stream, nb::handle max_version, nb::handle device,
                     nb::handle copy) {
  const dlpack::Device here = python::device_of(*a);
  if (!device.is_none() && !nb::make_tuple(here.type, here.index).equal(device))
    throw nb::buffer_error("kolmo.Array: is handed over on its own device only");
  if (!copy.is_none() && nb::cast<bool>(copy))
    throw nb::buffer_error("kolmo.Array: is handed over without a copy only");
  order(*a, stream);
  const bool versioned = !max_version.is_none() && nb::cast<int>(max_version[0]) >= 1;
  if (!versioned) return capsule<dlpack::Managed>(a, "dltensor");
  nb::object made = capsule<dlpack::ManagedVersioned>(a, "dltensor_versioned");
  static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(made.ptr(), "dltensor_versioned"))->major = 1;
  return made;
}

}  // namespace

OwnedArray::OwnedArray(DType dtype, std::span<const std::int64_t> shape, StreamPointer s)
    : array(s->stream.device().kind == DeviceKind::cuda ? kolmo::Array(dtype, shape, s->stream)
                                                        : kolmo::Array(dtype, shape)),
      stream(std::move(s)) {}

OwnedArray::~OwnedArray() {
  const CurrentDevice kept(array.tensor.device);  // a consumer may release the array in any thread
  array = {};
}

void add_owned_array(nb::module_& module) {
  nb::class_<OwnedArray>(module, "Array",
                         "An array in Kolmo's memory. Other libraries take it without a copy: "
                         "`torch.from_dlpack(a)`, `cupy.from_dlpack(a)`, `numpy.from_dlpack(a)`.")
      .def_prop_ro("shape",
                   [](const OwnedArray& a) {
                     nb::list extents;
                     for (const std::int64_t e : a.array.tensor.shape()) extents.append(e);
                     return nb::tuple(extents);
                   })
      .def_prop_ro("dtype", [](const OwnedArray& a) { return std::string(to_string(a.array.tensor.dtype)); })
      .def_prop_ro("device", [](const OwnedArray& a) { return to_string(a.array.tensor.device); })
      .def("__dlpack__", &export_to, nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(),
           nb::arg("copy") = nb::none())
      .def("__dlpack_device__",
           [](const OwnedArray& a) {
             const dlpack::Device d = python::device_of(a);
             return nb::make_tuple(d.type, d.index);
           })
      .def("__repr__",
           [](const OwnedArray& a) { return "<kolmo.Array " + shape_string(a.array.tensor) + ">"; });
}

}  // namespace kolmo::python
