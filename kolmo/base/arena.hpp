#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kolmo {

/// Hands out pieces of a workspace. Without memory it only counts bytes: the same layout function first
/// computes the size and then places the pieces.
class Arena {
 public:
  explicit Arena(void* memory = nullptr) : base_(static_cast<std::byte*>(memory)) {}

  template <class T>
  T* take(std::int64_t n) {
    static_assert(std::is_trivially_destructible_v<T>);
    const std::size_t at = used_;
    used_ = (used_ + std::size_t(n) * sizeof(T) + alignment - 1) / alignment * alignment;
    return base_ ? reinterpret_cast<T*>(base_ + at) : nullptr;
  }
  std::size_t used() const { return used_; }

 private:
  static constexpr std::size_t alignment = 128;
  std::byte* base_;
  std::size_t used_ = 0;
};

}  // namespace kolmo
