#pragma once
#include <algorithm>

#include "kolmo/runtime/cpu/f16c.hpp"

namespace kolmo {

/// Converts n elements to the type in which arithmetic is done, and back, rounded to nearest even.
template <class T>
void widen(const T* from, std::int64_t n, Compute<T>* to) {
  std::copy_n(from, n, to);
}
template <class T>
void narrow(const Compute<T>* from, std::int64_t n, T* to) {
  std::copy_n(from, n, to);
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

}  // namespace kolmo
