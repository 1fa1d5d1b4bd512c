#pragma once
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "kolmo/op/define.hpp"

namespace kolmo {

/// A name in the catalogue: an operator, or one of its aliases. A null implementation means that the operator
/// has none, or not in this build.
struct OpEntry {
  std::string_view group;
  const OpBase* op;
  std::array<const ImplBase*, device_kinds> on{};  ///< by DeviceKind
  const AliasInfo* alias = nullptr;                ///< null for the operator itself
  /// For an operator that was added: identifies the version of its sources, for its stored tuning results.
  std::string_view sources = {};

  std::string_view name() const { return alias ? alias->name : op->name; }
  std::string_view summary() const { return alias ? alias->summary : op->summary; }
  Determinism determinism() const {
    return alias && alias->determinism ? *alias->determinism : op->determinism;
  }
  /// Whether the case belongs to this entry. An operator has all cases, those of its aliases too; an alias
  /// has its own.
  bool has(const CaseInfo& c) const { return !alias || alias->name == c.alias; }
  /// The entry of the name that the case belongs to.
  OpEntry of(const CaseInfo& c) const;
  /// Whether this name binds the option.
  bool sets(const FieldInfo& option) const;
  const ImplBase* impl(DeviceKind kind) const { return on[std::size_t(kind)]; }
  /// The table of variants on a kind of device; empty where there is no implementation.
  std::vector<Variant> variants(DeviceKind kind) const;
  /// The row of that name; -1 if there is none.
  int find_variant(DeviceKind kind, std::string_view name) const;
  /// Whether this name includes a row of that table: an alias may be restricted to some of the CUDA rows.
  bool stands_for(const Variant& row, DeviceKind kind) const {
    return !alias || kind == DeviceKind::cpu || row.name.starts_with(alias->cuda_variants);
  }
  /// Whether this row exists and can run these arguments.
  bool fits(const void* args, DeviceKind kind, int variant) const;
  /// The row taken if none is requested: the row that the operator prefers for these arguments if it fits,
  /// else the first that fits; -1 if none does.
  int default_variant(const void* args, DeviceKind kind) const;
  /// Every row that fits: the default first, the others in order.
  std::vector<int> fitting(const void* args, DeviceKind kind) const;
};

/// Runs an entry, with the contract of run() of an operator. The entry need not be in the catalogue.
void run(const OpEntry& entry, const void* args, Stream& stream, RunOptions options = {});

/// Kolmo's operators, by group and name, followed by added ones, in order. A returned span stays valid;
/// operators added later are not in it.
std::span<const OpEntry> all_ops();
/// Every operator, each followed by its aliases.
std::span<const OpEntry> all_names();
const OpEntry& entry_of(const OpBase& op);
/// An operator or alias. Throws InvalidArgument, listing similar names, if the name does not exist.
const OpEntry& find_op(std::string_view name);

/// Adds an operator to the catalogue of this process. check::register_op adds its oracle and also calls this.
/// Everything the entry points to must live until the process ends. Throws InvalidArgument if the name, or
/// one of its aliases, is taken or is not lower_case_with_digits_1.
void register_op(const OpEntry& entry);

/// The entry of an operator or of one of its aliases.
const OpEntry& entry_of(const OpBase& op, const AliasInfo& alias);

namespace detail {
struct BuiltInOp {
  std::string_view group;
  const OpRef* op;
  std::array<const ImplBase*, device_kinds> on;
};
std::span<const BuiltInOp> built_in_ops();  ///< generated from the folders under kolmo/ops

struct SimtRow {
  const OpRef* op;
  const ImplBase* impl;
};
/// Generated too. It is defined only if kolmo_simt is linked.
[[gnu::weak]] std::span<const SimtRow> simt_rows();
}  // namespace detail

}  // namespace kolmo
