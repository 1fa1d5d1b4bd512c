#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "kolmo/base/dtype.hpp"
#include "kolmo/base/philox.hpp"

namespace kolmo {

/// Allowed deviation of a floating result from the oracle's: |got - want| <= max(absolute, relative |want|).
/// A single number sets both: it is then absolute below 1 and relative above, for results whose error does
/// not shrink with their magnitude, such as sums.
struct Tolerance {
  double absolute = 0, relative = 0;
  constexpr Tolerance(double both = 0)
      : absolute(both), relative(both) {}  // NOLINT(google-explicit-constructor)
  constexpr Tolerance(double a, double r) : absolute(a), relative(r) {}
  constexpr double bound(double want) const {
    return std::max(absolute, relative * (want < 0 ? -want : want));
  }
};
constexpr Tolerance relative(double r) { return {0, r}; }
constexpr Tolerance absolute(double a) { return {a, 0}; }

/// A list of up to 8 items in constant data.
template <class T>
struct ShortList {
  T items[8] = {};
  std::size_t count = 0;
  constexpr ShortList() = default;
  constexpr ShortList(std::initializer_list<T> list) {
    for (const T& item : list) items[count++] = item;
  }
  constexpr operator std::span<const T>() const {
    return {items, count};
  }  // NOLINT(google-explicit-constructor)
  constexpr const T* begin() const { return items; }
  constexpr const T* end() const { return items + count; }
};

struct CaseSize {
  std::string_view name;
  std::int64_t size;
};
struct CaseDType {
  std::string_view variable;
  DType dtype;
};
struct OutputTolerance {
  std::string_view output;
  Tolerance tolerance;
};

/// Random numbers for a case's own inputs; each draw of the case gets different ones.
class CaseRandom {
 public:
  explicit CaseRandom(std::uint64_t seed) : philox_(seed) {}
  double uniform() {  ///< in [0, 1)
    const Philox::Words w = philox_(next_++, 0x5E70);
    return uniform53(w.w[0], w.w[1]);
  }
  double normal() { return std::sqrt(-2 * std::log1p(-uniform())) * std::cos(6.283185307179586 * uniform()); }
  std::int64_t below(std::int64_t n) { return std::int64_t(uniform() * double(n)); }

 private:
  Philox philox_;
  std::uint64_t next_ = 0;
};

/// The part of a case that does not depend on the type of its operator's arguments.
struct CaseInfo {
  std::string_view name;
  std::span<const CaseSize> sizes;
  DType dtype = DType::f64;  ///< dtype of the variable "T"
  Tolerance tolerance = {};
  std::string_view optional = {};  ///< space-separated names of the optional tensors to give
  bool benchmark_only = false;     ///< too large for the oracle and the emulated GPU
  bool heavy = false;              ///< takes long on the emulated GPU, which then checks its results alone
  std::string_view alias = {};     ///< the alias that the case belongs to; empty: the operator itself
  std::span<const CaseDType> dtypes = {};  ///< dtypes of further variables; default: the first accepted
  std::span<const OutputTolerance> tolerances = {};  ///< for outputs whose tolerance is not `tolerance`
};

/// A named problem: shapes, dtypes, options. Used by validation, benchmarks and tuning. `sizes` gives extents
/// for the names in shape strings, including integer options; "..." is one leading dimension.
template <class Args>
struct Case {
  std::string_view name;
  ShortList<CaseSize> sizes;
  DType dtype = DType::f64;
  Tolerance tolerance = {};  ///< 0: the same bits are required
  std::string_view optional = {};
  bool benchmark_only = false;
  bool heavy = false;
  void (*setup)(Args&) = nullptr;              ///< sets options, may rewrite the (host) inputs
  void (*draw)(Args&, CaseRandom&) = nullptr;  ///< does the same, with random numbers
  std::string_view alias = {};                 ///< starts from this alias's options
  ShortList<CaseDType> dtypes = {};
  ShortList<OutputTolerance> tolerances = {};
};

}  // namespace kolmo
