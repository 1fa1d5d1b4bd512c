#pragma once
#include <cstdint>

#include "kolmo/base/hd.hpp"
#include "kolmo/base/status.hpp"

namespace kolmo {

/// Whether v is neither infinite nor NaN.
template <class T>
KOLMO_HD constexpr bool is_finite(T v) {
  return v - v == T(0);  // NOLINT(misc-redundant-expression)
}

/// Reports the first of the elements [begin, end) that is not finite, and then returns false.
template <class T>
bool check_finite(const Status& status, int fault, const T* v, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i)
    if (!is_finite(v[i])) {
      status.report(fault, i);
      return false;
    }
  return true;
}

/// Reports the first of the times [begin, end) that is not later than the one before, and then returns false.
/// Without times (null) the result is true.
inline bool check_ascending(const Status& status, int fault, const std::int64_t* time, std::int64_t begin,
                            std::int64_t end) {
  for (std::int64_t i = begin + 1; time && i < end; ++i)
    if (time[i] <= time[i - 1]) {
      status.report(fault, i);
      return false;
    }
  return true;
}

}  // namespace kolmo
