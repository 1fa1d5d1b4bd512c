#include "kolmo/op/registry.hpp"

#include <atomic>
#include <deque>
#include <mutex>
#include <string>

#include "kolmo/op/source_hash.hpp"

namespace kolmo {

OpEntry OpEntry::of(const CaseInfo& c) const {
  OpEntry entry = *this;
  for (const AliasInfo& a : op->aliases())
    if (a.name == c.alias) entry.alias = a;
  return entry;
}

bool OpEntry::sets(const FieldInfo& option) const {
  return option.number(op->default_args(alias.name).data()) != option.number(op->default_args().data());
}

std::vector<Variant> OpEntry::variants(DeviceKind kind) const {
  if (runs_cpu_code(kind)) return op->cpu_variants();
  const CudaImpl* i = impl(kind);
  return i ? std::vector<Variant>(i->variants.begin(), i->variants.end()) : std::vector<Variant>{};
}

int OpEntry::variant_count(DeviceKind kind) const {
  if (runs_cpu_code(kind)) return op->cpu_variant_count();
  const CudaImpl* i = impl(kind);
  return i ? int(i->variants.size()) : 0;
}

bool OpEntry::fits(const void* args, DeviceKind kind, int variant) const {
  if (runs_cpu_code(kind)) return op->cpu_fits(args, variant);
  const CudaImpl* i = impl(kind);
  if (!i || variant < 0 || std::size_t(variant) >= i->variants.size()) return false;
  const Variant& row = i->variants[std::size_t(variant)];
  return !(kind == DeviceKind::simt && row.hardware_only) && stands_for(row, kind) && i->fits(args, variant);
}

int OpEntry::default_variant(const void* args, DeviceKind kind) const {
  const CudaImpl* i = runs_cpu_code(kind) ? nullptr : impl(kind);
  const int preferred = i && i->preferred ? i->preferred(args) : -1;
  if (preferred >= 0 && fits(args, kind, preferred)) return preferred;
  for (int v = 0, n = variant_count(kind); v < n; ++v)
    if (fits(args, kind, v)) return v;
  return -1;
}

std::vector<int> OpEntry::fitting(const void* args, DeviceKind kind) const {
  const int first = default_variant(args, kind);
  std::vector<int> all;
  if (first >= 0) all.push_back(first);
  for (int v = 0, n = variant_count(kind); v < n; ++v)
    if (v != first && fits(args, kind, v)) all.push_back(v);
  return all;
}

namespace {

/// The catalogue as it was at some time: readers keep what they were given.
struct Catalogue {
  std::vector<OpEntry> ops, names;

  void add(const OpEntry& e) {
    ops.push_back(e);
    names.push_back(e);
    for (const AliasInfo& alias : e.op->aliases()) {
      names.push_back(e);
      names.back().alias = alias;
    }
  }
};

struct Catalogues {
  std::mutex adding;
  std::deque<Catalogue> all;  // never shrinks
  std::atomic<const Catalogue*> latest;

  Catalogues() {
    for (Catalogue& first = all.emplace_back(); const OpEntry& e : detail::built_in_ops()) first.add(e);
    latest = &all.back();
  }
};

Catalogues& catalogues() {
  static Catalogues& c = *new Catalogues;  // read until the process ends
  return c;
}

}  // namespace

std::span<const OpEntry> all_ops() { return catalogues().latest.load()->ops; }
std::span<const OpEntry> all_names() { return catalogues().latest.load()->names; }

void register_op(const OpEntry& entry) {
  Catalogues& c = catalogues();
  const std::lock_guard lock(c.adding);
  Catalogue next = c.all.back();
  next.add(entry);
  for (std::size_t i = c.all.back().names.size(); i < next.names.size(); ++i) {
    const std::string_view name = next.names[i].name();
    if (name.empty() || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != name.npos)
      fail<InvalidArgument>("register_op: '" + std::string(name) +
                            "' is no name for an operator: lower case letters, digits and _");
    for (std::size_t k = 0; k < i; ++k)
      if (next.names[k].name() == name)
        fail<InvalidArgument>("register_op: there is already an operator called '" + std::string(name) + "'");
  }
  c.latest = &c.all.emplace_back(std::move(next));
}

std::string_view source_hash(std::string_view op, DeviceKind kind) {
  const std::string_view built_in = detail::built_in_source_hash(op, kind);
  if (!built_in.empty()) return built_in;
  for (const OpEntry& e : all_ops())
    if (e.op->name == op) return e.sources;
  return {};
}

const OpEntry& entry_of(const OpBase& op) {
  for (const OpEntry& e : all_ops())
    if (e.op == &op) return e;
  fail<Unsupported>(std::string(op.name) + " is not in the catalogue");
}

const OpEntry& find_op(std::string_view name) {
  std::string near;
  for (const OpEntry& e : all_names()) {
    const std::string_view known = e.name();
    if (known == name) return e;
    if (known.find(name) != std::string_view::npos || name.find(known) != std::string_view::npos)
      near += (near.empty() ? "; did you mean " : ", ") + std::string(known);
  }
  fail<InvalidArgument>("no operator is called '" + std::string(name) + "'" + near);
}

}  // namespace kolmo
