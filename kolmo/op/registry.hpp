#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "kolmo/op/op.hpp"

namespace kolmo {

/// A name of the catalogue: an operator, or one of its aliases. A null implementation means this build or
/// operator has none.
struct OpEntry {
  std::string_view group;
  const OpBase* op;
  const CudaImpl* cuda = nullptr;
  const CudaImpl* simt = nullptr;
  AliasInfo alias = {};  ///< its name is empty for the operator itself
  /// Of an operator that was added: what tells versions of its sources apart, for what was tuned with them.
  std::string_view sources = {};

  std::string_view name() const { return alias.name.empty() ? op->name : alias.name; }
  /// An operator has the cases of its aliases too, an alias its own.
  bool has(const CaseInfo& c) const { return alias.name.empty() || alias.name == c.alias; }
  /// By the name that the case belongs to.
  OpEntry of(const CaseInfo& c) const;
  /// Whether its name says what this option is.
  bool sets(const FieldInfo& option) const;
  const CudaImpl* impl(DeviceKind kind) const { return kind == DeviceKind::simt ? simt : cuda; }
  /// The table of variants on a kind of device; a CPU with only one way of computing has one row without a
  /// name.
  std::vector<Variant> variants(DeviceKind kind) const;
  int variant_count(DeviceKind kind) const;
  /// Whether this name stands for a row of that table: an alias may stand for some of a GPU's.
  bool stands_for(const Variant& row, DeviceKind kind) const {
    return runs_cpu_code(kind) || row.name.starts_with(alias.cuda_variants);
  }
  /// Whether this row exists and can run these arguments.
  bool fits(const void* args, DeviceKind kind, int variant) const;
  /// The row that is taken where none is asked for: the one that the operator prefers for these arguments if
  /// that fits, else the first that fits; -1 when none does.
  int default_variant(const void* args, DeviceKind kind) const;
  /// Every row that fits: the default first, the others in order.
  std::vector<int> fitting(const void* args, DeviceKind kind) const;
};

/// The operators of Kolmo, by group and name; then those that were added, in order. What was returned stays
/// valid, without the operators that are added later.
std::span<const OpEntry> all_ops();
/// Every operator, each followed by its aliases.
std::span<const OpEntry> all_names();
const OpEntry& entry_of(const OpBase& op);
/// An operator or alias. Throws InvalidArgument, naming near misses, when there is none of this name.
const OpEntry& find_op(std::string_view name);

/// Adds an operator to the catalogue of this process; its oracle is added by check::register_op, which also
/// calls this. Everything the entry points to must live until the process ends. Throws InvalidArgument when
/// the name, or one of its aliases, is taken or is not lower_case_with_digits_1.
void register_op(const OpEntry& entry);

namespace detail {
std::span<const OpEntry> built_in_ops();  ///< generated from the folders under kolmo/ops
}

}  // namespace kolmo
