#include "kolmo/op/registry.hpp"

#include <algorithm>
#include <string>

namespace kolmo {

const OpEntry& entry_of(const OpBase& op) {
  for (const OpEntry& e : all_ops())
    if (e.op == &op) return e;
  fail<Unsupported>(std::string(op.name) + " is not in the catalogue");
}

const OpEntry& find_op(std::string_view name) {
  std::string near;
  for (const OpEntry& e : all_ops()) {
    if (e.op->name == name) return e;
    if (e.op->name.find(name) != std::string_view::npos || name.find(e.op->name) != std::string_view::npos)
      near += (near.empty() ? "; did you mean " : ", ") + std::string(e.op->name);
  }
  fail<InvalidArgument>("no operator is called '" + std::string(name) + "'" + near);
}

}  // namespace kolmo
