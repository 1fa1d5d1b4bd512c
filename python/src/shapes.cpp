#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "kolmo/op/registry.hpp"
#include "python/src/module.hpp"
#include "python/src/values.hpp"

namespace kolmo::python {
namespace {

using Shaped = std::pair<std::vector<std::int64_t>, std::string>;

/// Returns the shapes and dtypes of the required outputs. `arguments` holds inputs as (shape, dtype), and
/// options as they are.
std::vector<Shaped> shapes(const std::string& name, const nb::dict& arguments) {
  const OpEntry& entry = find_op(name);
  std::vector<std::byte> args = entry.op->default_args(name);
  for (const FieldInfo& f : entry.op->fields()) {
    const nb::str key(std::string(f.name).c_str());
    if (!arguments.contains(key)) continue;
    const nb::object value = arguments[key];
    if (!f.is_tensor()) {
      f.set(args.data(), value_of(f, value));
    } else if (f.is_input()) {
      const auto [shape, dtype] = nb::cast<Shaped>(value);
      f.tensor(args.data()) = tensor(nullptr, dtype_of_object(nb::str(dtype.c_str())), shape);
      f.tensor(args.data()).data = args.data();  // counts as given, and is not read
    }
  }
  infer_outputs(*entry.op, args.data());
  std::vector<Shaped> all;
  for (const FieldInfo& f : entry.op->fields()) {
    if (f.kind != FieldKind::out || f.optional) continue;
    const Tensor& t = f.tensor(args.data());
    all.emplace_back(std::vector<std::int64_t>(t.shape().begin(), t.shape().end()), to_string(t.dtype));
  }
  return all;
}

}  // namespace

void add_shapes(nb::module_& module) {
  module.def("shapes", &shapes, nb::arg("name"), nb::arg("arguments"),
             "Shapes and dtypes of the outputs that a call would have; nothing is computed.");
}

}  // namespace kolmo::python
