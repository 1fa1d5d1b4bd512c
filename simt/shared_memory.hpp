#pragma once
// Shared memory of the blocks that one OS thread runs.

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "simt/engine.hpp"
#include "simt/symbols.hpp"

namespace simt {

class SharedMemory {
 public:
  /// Finds the shared variables of the calling OS thread and surrounds them with red zones.
  SharedMemory();

  void begin_grid(std::size_t dynamic_bytes);
  void end_grid();
  /// From here on, dynamic memory holds the poison pattern again, and so does every variable from its first
  /// declaration on.
  void begin_block();
  void declare(Guard& guard);

  void* dynamic() const { return dynamic_.at; }
  bool contains(const void* p, std::size_t bytes) const;

 private:
  struct Scope {
    SharedScope where;
    std::uint64_t block = 0;  // number of the block that last used it
  };
  /// Adds the shared variables that appeared since the last call: those of a library that was loaded later,
  /// such as Python's extension, exist in a thread only once it has touched one of them.
  void add_scopes();

  std::deque<Scope> scopes_;  // a deque, so that scopes stay where they are
  std::unordered_map<const void*, Scope*> by_guard_;
  std::vector<const Scope*> active_;  // scopes used in this block
  std::uint64_t block_ = 0;
  Range dynamic_{};
};

/// The pattern of poison(): NaN as double, float, bfloat16 and half, at every alignment. Byte i is stored at
/// addresses i mod 8.
inline constexpr std::uint64_t poison_pattern = 0x7ff47fa57fa57fa5;
constexpr unsigned char poison_at(std::uintptr_t address) {
  return static_cast<unsigned char>(poison_pattern >> address % 8 * 8);
}
SIMT_PLAIN inline bool starts_with_poison(const void* p) {
  return *static_cast<const unsigned char*>(p) == poison_at(reinterpret_cast<std::uintptr_t>(p));
}

/// Whether `bytes` at `p` hold the pattern of poison(). Fewer than four bytes count only if the eight around
/// them do.
bool holds_poison(const void* p, std::size_t bytes);

}  // namespace simt
