#include "simt/shared_memory.hpp"

#include <cstring>
#include <new>

#include "simt/sanitizer.hpp"

namespace simt {
namespace {

constexpr std::align_val_t dynamic_alignment{128};

}  // namespace

SIMT_PLAIN void poison(void* memory, std::size_t bytes) {
  auto at = reinterpret_cast<std::uintptr_t>(memory);
  const auto end = at + bytes;
  for (; at < end && at % 8; ++at) *reinterpret_cast<unsigned char*>(at) = poison_at(at);
  for (; at + 8 <= end; at += 8) *reinterpret_cast<std::uint64_t*>(at) = poison_pattern;
  for (; at < end; ++at) *reinterpret_cast<unsigned char*>(at) = poison_at(at);
}

SIMT_PLAIN bool holds_poison(const void* p, std::size_t bytes) {
  auto at = reinterpret_cast<std::uintptr_t>(p);
  if (bytes < 4) {
    const auto end = (at + bytes + 7) / 8 * 8;
    at = at / 8 * 8, bytes = end - at;
  }
  for (const auto end = at + bytes; at < end; ++at)
    if (*reinterpret_cast<const unsigned char*>(at) != poison_at(at)) return false;
  return true;
}

SharedMemory::SharedMemory() { add_scopes(); }

void SharedMemory::add_scopes() {
  for (SharedScope& s : shared_scopes()) {
    if (s.guards.empty() || by_guard_.contains(s.guards[0])) continue;
    Scope& scope = scopes_.emplace_back(Scope{std::move(s)});
    for (char* guard : scope.where.guards) {
      by_guard_[guard] = &scope;
      forbid_access(guard, sizeof Guard::before);
      forbid_access(guard + offsetof(Guard, after), sizeof Guard::after);
    }
    for (const Range& r : scope.where.padding) forbid_access(r.at, r.size);
    // g++ sets these flags without need.
    for (const Range& r : scope.where.init_flags) benign_race(r.at, r.size);
  }
}

void SharedMemory::begin_grid(std::size_t dynamic_bytes) {
  dynamic_ = {static_cast<char*>(::operator new(dynamic_bytes, dynamic_alignment)), dynamic_bytes};
}

void SharedMemory::end_grid() {
  ::operator delete(dynamic_.at, dynamic_alignment);
  dynamic_ = {};
}

void SharedMemory::begin_block() {
  ++block_;
  active_.clear();
  poison(dynamic_.at, dynamic_.size);
}

void SharedMemory::declare(Guard& guard) {
  if (guard.block == block_) return;
  guard.block = block_;
  auto found = by_guard_.find(&guard);
  if (found == by_guard_.end()) {
    add_scopes();
    found = by_guard_.find(&guard);
  }
  if (found == by_guard_.end())
    throw Error("the program's symbol table does not list its shared variables: was it stripped?");
  Scope& scope = *found->second;
  if (scope.block == block_) return;
  scope.block = block_;
  active_.push_back(found->second);
  for (const Range& r : scope.where.variables) poison(r.at, r.size);
}

bool SharedMemory::contains(const void* p, std::size_t bytes) const {
  if (dynamic_.contains(p, bytes)) return true;
  for (const Scope* scope : active_)
    for (const Range& r : scope->where.variables)
      if (r.contains(p, bytes)) return true;
  return false;
}

}  // namespace simt
