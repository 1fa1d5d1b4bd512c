#include "kolmo/op/registry.hpp"

#include <atomic>
#include <deque>
#include <mutex>
#include <string>

#include "kolmo/io/nearest.hpp"
#include "kolmo/op/source_hash.hpp"

namespace kolmo {

OpEntry OpEntry::of(const CaseInfo& c) const {
  OpEntry entry = *this;
  for (const AliasInfo& a : op->aliases())
    if (a.name == c.alias) entry.alias = &a;
  return entry;
}

bool OpEntry::sets(const FieldInfo& option) const {
  return alias && alias->sets(option, op->default_args().data());
}

std::vector<Variant> OpEntry::variants(DeviceKind kind) const {
  std::vector<Variant> all;
  if (const ImplBase* const i = impl(kind))
    for (int v = 0; v < i->rows().size(); ++v) all.push_back(i->rows()[v]);
  return all;
}

int OpEntry::find_variant(DeviceKind kind, std::string_view name) const {
  if (const ImplBase* const i = impl(kind))
    for (int v = 0; v < i->rows().size(); ++v)
      if (i->rows()[v].name == name) return v;
  return -1;
}

bool OpEntry::fits(const void* args, DeviceKind kind, int variant) const {
  const ImplBase* const i = impl(kind);
  if (!i || variant < 0 || variant >= i->rows().size()) return false;
  const Variant row = i->rows()[variant];
  return !(kind == DeviceKind::simt && row.hardware_only) && stands_for(row, kind) && i->fits(args, variant);
}

int OpEntry::default_variant(const void* args, DeviceKind kind) const {
  const ImplBase* const i = impl(kind);
  if (!i) return -1;
  if (const int preferred = i->preferred(args); preferred >= 0 && fits(args, kind, preferred))
    return preferred;
  for (int v = 0, n = i->rows().size(); v < n; ++v)
    if (fits(args, kind, v)) return v;
  return -1;
}

std::vector<int> OpEntry::fitting(const void* args, DeviceKind kind) const {
  const int first = default_variant(args, kind);
  std::vector<int> all;
  if (first >= 0) all.push_back(first);
  for (int v = 0, n = impl(kind) ? impl(kind)->rows().size() : 0; v < n; ++v)
    if (v != first && fits(args, kind, v)) all.push_back(v);
  return all;
}

namespace {

/// An immutable version of the catalogue; readers keep the version they were given.
struct Catalogue {
  std::vector<OpEntry> ops, names;

  void add(const OpEntry& e) {
    ops.push_back(e);
    names.push_back(e);
    for (const AliasInfo& alias : e.op->aliases()) {
      names.push_back(e);
      names.back().alias = &alias;
    }
  }
};

struct Catalogues {
  std::mutex adding;
  std::deque<Catalogue> all;  // never shrinks
  std::atomic<const Catalogue*> latest;

  Catalogues() {
    const auto simt = detail::simt_rows ? detail::simt_rows() : std::span<const detail::SimtRow>();
    for (Catalogue& first = all.emplace_back(); const detail::BuiltInOp& o : detail::built_in_ops()) {
      OpEntry entry{o.group, &static_cast<const OpBase&>(*o.op), o.on};
      for (const detail::SimtRow& row : simt)
        if (row.op == o.op) entry.on[std::size_t(DeviceKind::simt)] = row.impl;
      first.add(entry);
    }
    latest = &all.back();
  }
};

Catalogues& catalogues() {
  static Catalogues& c = *new Catalogues;  // never destroyed: it is read until the process ends
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
  // Entries never move, so a thread may keep what it found.
  static constexpr std::size_t places = 64;
  static constinit thread_local const OpEntry* found[places] = {};
  const OpEntry*& known = found[reinterpret_cast<std::uintptr_t>(&op) / 16 % places];
  if (known && known->op == &op) return *known;
  for (const OpEntry& e : all_ops())
    if (e.op == &op) return *(known = &e);
  fail<Unsupported>(std::string(op.name) + " is not in the catalogue");
}

const OpEntry& entry_of(const OpBase& op, const AliasInfo& alias) {
  for (const OpEntry& e : all_names())
    if (e.op == &op && e.alias == &alias) return e;
  fail<Unsupported>(std::string(alias.name) + " is not in the catalogue");
}

const OpEntry& find_op(std::string_view name) {
  std::string near;
  std::vector<std::string> all;
  for (const OpEntry& e : all_names()) {
    const std::string_view known = e.name();
    if (known == name) return e;
    if (known.find(name) != std::string_view::npos || name.find(known) != std::string_view::npos)
      near += (near.empty() ? "" : ", ") + std::string(known);
    all.emplace_back(known);
  }
  if (near.empty()) near = nearest(name, all);
  if (!near.empty()) near.insert(0, "; did you mean ");
  fail<InvalidArgument>("no operator is called '" + std::string(name) + "'" + near);
}

}  // namespace kolmo
