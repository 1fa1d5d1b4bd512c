#include "kolmo/op/about_call.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace kolmo {

std::string about_call(const OpBase& op, const void* args, const Cost& cost, Device device) {
  using Json = nlohmann::ordered_json;
  Json tensors = Json::array(), options = Json::object();
  for (const FieldInfo& f : op.fields()) {
    if (!f.is_tensor()) {
      options[std::string(f.name)] = f.text(f.value(args));
      continue;
    }
    const Tensor& t = f.tensor(args);
    if (!t.given()) continue;
    tensors.push_back({{"name", f.name},
                       {"kind", f.kind == FieldKind::in    ? "in"
                                : f.kind == FieldKind::out ? "out"
                                                           : "inout"},
                       {"dtype", to_string(t.dtype)},
                       {"shape", std::vector<std::int64_t>(t.shape().begin(), t.shape().end())},
                       {"address", reinterpret_cast<std::uintptr_t>(t.data)}});
  }
  return Json{{"flops", cost.flops},
              {"bytes", cost.bytes_read + cost.bytes_written},
              {"device", to_string(device)},
              {"options", std::move(options)},
              {"tensors", std::move(tensors)}}
      .dump();
}

}  // namespace kolmo
