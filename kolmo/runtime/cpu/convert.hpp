#pragma once
#include <algorithm>
#include <type_traits>

#include "kolmo/runtime/cpu/f16c.hpp"
#include "kolmo/runtime/cpu/vectors.hpp"

namespace kolmo {

/// Convert n elements to the type in which arithmetic is done, and back, rounded to nearest even.
template <class T>
void widen(const T* from, std::int64_t n, Compute<T>* to) {
  std::copy_n(from, n, to);
}
template <class T>
void narrow(const Compute<T>* from, std::int64_t n, T* to) {
  std::copy_n(from, n, to);
}
template <>
inline void widen(const BFloat16* from, std::int64_t n, float* to) {
  in_vectors(n, [=](std::int64_t i) { to[i] = float(from[i]); });
}
template <>
inline void narrow(const float* from, std::int64_t n, BFloat16* to) {
  in_vectors(n, [=](std::int64_t i) { to[i] = BFloat16(from[i]); });
}
template <>
inline void widen(const Half* from, std::int64_t n, float* to) {
  static const bool vectors = f16c::available();
  if (vectors)
    f16c::convert(from, to, n);
  else
    std::copy_n(from, n, to);
}
template <>
inline void narrow(const float* from, std::int64_t n, Half* to) {
  static const bool vectors = f16c::available();
  if (vectors)
    f16c::convert(from, to, n);
  else
    std::copy_n(from, n, to);
}

/// Gives access to at most `most` elements in the type in which arithmetic is done: to the elements
/// themselves if they have it, else to a copy. Null if there are none.
template <class T, std::int64_t most>
class Widened {
 public:
  Widened(const T* from, std::int64_t n) {
    if (!from) return;
    if constexpr (std::is_same_v<T, Compute<T>>)
      data_ = from;
    else
      widen(from, n, copy_), data_ = copy_;
  }
  const Compute<T>* data() const { return data_; }

 private:
  const Compute<T>* data_ = nullptr;
  Compute<T> copy_[std::is_same_v<T, Compute<T>> ? 1 : most];
};

}  // namespace kolmo
