#include "kolmo/check/recalled.hpp"

namespace kolmo::check {

Recalled::Recalled(const OpBase& op, CallShape call) : call_(std::move(call)) {
  CaseInfo info;
  for (const auto& [name, size] : call_.sizes) {
    sizes_.push_back({name, size});
    name_ += (name_.empty() ? "" : " ") + name + "=" + std::to_string(size);
  }
  for (const auto& [variable, dtype] : call_.dtypes) {
    if (variable == "T")
      info.dtype = dtype;
    else
      dtypes_.push_back({variable, dtype});
  }
  for (const std::string& tensor : call_.given) given_ += (given_.empty() ? "" : " ") + tensor;
  info.name = name_, info.sizes = sizes_, info.dtypes = dtypes_, info.optional = given_;
  problem_.emplace(op, info, [&](void* args) { set_options(op, call_, args); });
}

}  // namespace kolmo::check
