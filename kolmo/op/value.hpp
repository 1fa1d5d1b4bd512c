#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

#include "kolmo/base/error.hpp"

namespace kolmo {

/// A short list of integers, such as strides or qubits; a plain value.
struct Integers {
  static constexpr int capacity = 16;
  std::int64_t items[capacity] = {};
  int count = 0;

  constexpr Integers() = default;
  /// Throws InvalidArgument if there are more than `capacity` items.
  constexpr Integers(std::initializer_list<std::int64_t> list) {
    if (list.size() > std::size_t(capacity)) fail<InvalidArgument>(too_many(list.size()));
    for (const std::int64_t i : list) items[count++] = i;
  }
  constexpr std::int64_t operator[](int i) const { return items[i]; }
  constexpr const std::int64_t* begin() const { return items; }
  constexpr const std::int64_t* end() const { return items + count; }
  constexpr int size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  static std::string too_many(std::size_t n) {
    return std::to_string(n) + " integers; a list has at most " + std::to_string(capacity);
  }
  friend constexpr bool operator==(const Integers& a, const Integers& b) {
    if (a.count != b.count) return false;
    for (int i = 0; i < a.count; ++i)
      if (a.items[i] != b.items[i]) return false;
    return true;
  }
};

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

enum class ValueKind : std::uint8_t { none, integer, natural, real, flag, choice, list };

/// The value of an option without its C++ type. Integers are exact; `none` is an optional number that is left
/// out.
struct Value {
  ValueKind kind = ValueKind::none;
  union {
    std::int64_t integer = 0;  ///< also holds flags, and choices as the index of the name
    std::uint64_t natural;
    double real;
  };
  Integers list;

  constexpr Value() = default;
  static constexpr Value of(ValueKind kind, std::int64_t i) {
    Value v;
    v.kind = kind, v.integer = i;
    return v;
  }
  static constexpr Value of(std::int64_t i) { return of(ValueKind::integer, i); }
  static constexpr Value of(std::uint64_t n) {
    Value v;
    v.kind = ValueKind::natural, v.natural = n;
    return v;
  }
  static constexpr Value of(double x) {
    Value v;
    v.kind = ValueKind::real, v.real = x;
    return v;
  }
  static constexpr Value of(const Integers& l) {
    Value v;
    v.kind = ValueKind::list, v.list = l;
    return v;
  }
  friend constexpr bool operator==(const Value& a, const Value& b) {
    if (a.kind != b.kind) return false;
    if (a.kind == ValueKind::none) return true;
    if (a.kind == ValueKind::natural) return a.natural == b.natural;
    if (a.kind == ValueKind::real) return a.real == b.real;
    return a.kind == ValueKind::list ? a.list == b.list : a.integer == b.integer;
  }
};

}  // namespace kolmo
