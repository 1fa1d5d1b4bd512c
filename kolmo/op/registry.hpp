#pragma once
#include <span>
#include <string_view>

#include "kolmo/op/op.hpp"

namespace kolmo {

/// One operator of the catalogue; a null implementation means this build or operator has none.
struct OpEntry {
  std::string_view group;
  const OpBase* op;
  const CudaImpl* cuda;
  const CudaImpl* simt;

  const CudaImpl* impl(DeviceKind kind) const { return kind == DeviceKind::simt ? simt : cuda; }
};

/// Every operator, by group and name. Generated from the folders under kolmo/ops.
std::span<const OpEntry> all_ops();
const OpEntry& entry_of(const OpBase& op);
/// Throws InvalidArgument, naming near misses, when there is no such operator.
const OpEntry& find_op(std::string_view name);

}  // namespace kolmo
