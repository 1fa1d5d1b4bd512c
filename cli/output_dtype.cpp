#include "cli/output_dtype.hpp"

namespace kolmo::cli {

void ask_for_dtype(const OpEntry& entry, void* args, DType wanted) {
  for (const FieldInfo& f : entry.op->fields())
    if (f.kind == FieldKind::out && f.dtypes.has(wanted)) f.tensor(args).dtype = wanted;
}

void require_dtype(const OpEntry& entry, const void* args, DType wanted) {
  const std::string name(entry.name()), asked(to_string(wanted));
  bool taken = false;
  for (const FieldInfo& f : entry.op->fields()) {
    if (f.kind != FieldKind::out || !f.dtypes.has(wanted) || !f.tensor(args).given()) continue;
    taken = f.tensor(args).dtype == wanted;
    if (!taken)
      fail<InvalidArgument>(name + ": " + std::string(f.name) + " cannot be " + asked + ": it is " +
                            std::string(to_string(f.tensor(args).dtype)) + ", as its inputs are");
  }
  if (!taken) fail<InvalidArgument>(name + ": no output can be " + asked);
}

}  // namespace kolmo::cli
