#include "kolmo/op/call_shape.hpp"

#include <algorithm>

#include "kolmo/op/bind.hpp"

namespace kolmo {

CallShape shape_of_call(const OpBase& op, const void* args, Device device) {
  CallShape call;
  const Dims dims = bind_inputs(op, args, device);
  for (const FieldInfo& f : op.fields()) {
    const std::string name(f.name);
    if (!f.is_tensor()) {
      call.options[name] = f.text(f.value(args));
      continue;
    }
    const Tensor& t = f.tensor(args);
    if (!t.given()) continue;
    if (f.optional) call.given.push_back(name);
    if (!f.dtypes.single() && !f.dtypes.real_part)
      call.dtypes.try_emplace(std::string(f.dtypes.variable), t.dtype);
    if (!f.is_input()) continue;
    for (const ShapeWord& w : f.shape) {
      if (w.number()) continue;
      if (!w.batch()) {
        call.sizes[std::string(w.name)] = dims[w.name];
        continue;
      }
      std::int64_t& batch = call.sizes["..."] = 1;
      for (const std::int64_t extent : dims.batch) batch *= extent;
    }
  }
  return call;
}

void set_options(const OpBase& op, const CallShape& call, void* args) {
  const auto fields = op.fields();
  for (const auto& option : call.options) {
    const auto f = std::ranges::find_if(
        fields, [&](const FieldInfo& each) { return !each.is_tensor() && each.name == option.first; });
    if (f == fields.end())
      fail<InvalidArgument>(std::string(op.name) + ": has no option '" + option.first + "'");
    named(op, args, [&] { f->set(args, f->parse(option.second)); });
  }
}

}  // namespace kolmo
