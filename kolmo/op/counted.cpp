#include "kolmo/op/counted.hpp"

#include <algorithm>

namespace kolmo {

Tensor counted_part(const OpBase& op, const FieldInfo& field, const void* args, std::int64_t& lost) {
  Tensor t = field.tensor(args);
  lost = 0;
  if (field.counter.empty() || t.rank < 1) return t;
  for (const FieldInfo& f : op.fields()) {
    if (f.name != field.counter || !f.tensor(args).given() || f.tensor(args).rank != 0) continue;
    const std::int64_t count = *f.tensor(args).as<std::int64_t>(), capacity = t.dim(0);
    lost = std::max<std::int64_t>(0, count - capacity);
    t.extent[0] = std::clamp<std::int64_t>(count, 0, capacity);
  }
  return t;
}

}  // namespace kolmo
