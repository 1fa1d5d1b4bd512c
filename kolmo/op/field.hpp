#pragma once
#include <array>
#include <optional>
#include <span>
#include <type_traits>

#include "kolmo/op/shape.hpp"
#include "kolmo/op/value.hpp"

namespace kolmo {

/// The values a tensor may hold. Cases draw their inputs from it, and documentation pages print it.
enum class Domain : std::uint8_t {
  real,
  positive,
  unit,         ///< in (0, 1)
  probability,  ///< rows that sum to 1
  count,        ///< small integers, from 0
  index,        ///< integers from 0 to below the size that the field's `below` names
  sorted,       ///< rows that do not decrease
  ascending,    ///< integers 0, 1, 2, ...
  offsets,      ///< integers in about equal steps from 0 to the size that the field's `below` names
  mask,         ///< 0 or 1
  symmetric_positive_definite  ///< matrices of the last two dimensions
};

enum class FieldKind : std::uint8_t { in, out, inout, integer, natural, real, flag, choice, list };

/// A field without its types, as used by the command line, Python, checks and documentation pages.
struct FieldInfo {
  std::string_view name, help;
  FieldKind kind{};
  bool optional = false;  ///< a tensor that may be left out, or a number that may be `none`
  Shape shape;
  DTypes dtypes;
  Domain domain{};
  Value min, max;  ///< bounds of a number, or of list items
  std::span<const std::string_view> choices;
  void* (*at)(void* args) = nullptr;
  Value (*get_value)(const void* args) = nullptr;
  void (*set_value)(void* args, const Value& value) = nullptr;
  std::string_view below =
      {};  ///< Domain::index, offsets: the size that all elements are less than, or reach
  std::string_view counter = {};  ///< the i64 output that says how many leading elements were written
  bool any_strides = false;       ///< need not be contiguous
  bool infinite = false;          ///< an output that may be infinite where every input is finite
  bool incidental = false;        ///< an input or option that hardly changes how long a call takes

  constexpr bool is_tensor() const { return kind <= FieldKind::inout; }
  constexpr bool is_input() const { return kind == FieldKind::in || kind == FieldKind::inout; }
  constexpr bool is_output() const { return kind == FieldKind::out || kind == FieldKind::inout; }
  Tensor& tensor(void* args) const { return *static_cast<Tensor*>(at(args)); }
  const Tensor& tensor(const void* args) const {
    return *static_cast<const Tensor*>(at(const_cast<void*>(args)));
  }
  Value value(const void* args) const { return get_value(args); }
  /// Throws InvalidArgument, without the operator's name, for a value of another kind or outside [min, max].
  /// An integer is accepted if the field's type represents it exactly.
  void set(void* args, const Value& value) const;
  /// The reason why the value is not accepted; empty if it is.
  std::string refusal(const Value& value) const;
  /// Throws InvalidArgument, without the operator's name, if the text is not a value of this field.
  Value parse(std::string_view text) const;
  /// The value in the notation of the command line, which parse() reads.
  std::string text(const Value& value) const;
  /// "0 to 64", or the names of a choice.
  std::string range() const;

  // Refinements of a field, as in field<&A::x>(...).indexes("n").
  constexpr FieldInfo indexes(std::string_view size) const {
    FieldInfo f = *this;
    f.domain = Domain::index, f.below = size;
    return f;
  }
  constexpr FieldInfo offsets_to(std::string_view size) const {
    FieldInfo f = *this;
    f.domain = Domain::offsets, f.below = size;
    return f;
  }
  constexpr FieldInfo counted_by(std::string_view output) const {
    FieldInfo f = *this;
    f.counter = output;
    return f;
  }
  constexpr FieldInfo strided() const {
    FieldInfo f = *this;
    f.any_strides = true;
    return f;
  }
  constexpr FieldInfo may_be_infinite() const {
    FieldInfo f = *this;
    f.infinite = true;
    return f;
  }
  /// No part of a tuning key.
  constexpr FieldInfo no_matter_for_speed() const {
    FieldInfo f = *this;
    f.incidental = true;
    return f;
  }
};

namespace detail {

template <class M>
struct Member;
template <class C, class T>
struct Member<T C::*> {
  using Class = C;
  using Type = T;
};
template <class T>
struct Number {
  using Type = T;
  static constexpr bool optional = false;
};
template <class T>
struct Number<std::optional<T>> {
  using Type = T;
  static constexpr bool optional = true;
};

template <class T>
constexpr FieldKind kind_of() {
  if constexpr (std::is_same_v<T, In> || std::is_same_v<T, OptIn>)
    return FieldKind::in;
  else if constexpr (std::is_same_v<T, Out> || std::is_same_v<T, OptOut>)
    return FieldKind::out;
  else if constexpr (std::is_same_v<T, InOut>)
    return FieldKind::inout;
  else if constexpr (std::is_same_v<T, bool>)
    return FieldKind::flag;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return FieldKind::integer;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return FieldKind::natural;
  else if constexpr (std::is_same_v<T, double>)
    return FieldKind::real;
  else if constexpr (std::is_same_v<T, Integers>)
    return FieldKind::list;
  else {
    static_assert(std::is_enum_v<T> && sizeof(T) == 4,
                  "options are bool, int64, uint64, double, Integers, optional numbers or 4-byte enums");
    return FieldKind::choice;
  }
}

template <class T>
constexpr Value value_of(const T& x) {
  if constexpr (std::is_same_v<T, bool>)
    return Value::of(ValueKind::flag, x);
  else if constexpr (std::is_enum_v<T>)
    return Value::of(ValueKind::choice, std::int64_t(x));
  else
    return Value::of(x);
}
template <class T>
constexpr T from_value(const Value& v) {
  if constexpr (std::is_same_v<T, double>)
    return v.real;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return v.natural;
  else if constexpr (std::is_same_v<T, Integers>)
    return v.list;
  else
    return T(v.integer);
}

template <auto M>
constexpr FieldInfo described(const char* name, const char* help) {
  using A = typename Member<decltype(M)>::Class;
  using T = typename Member<decltype(M)>::Type;
  FieldInfo f;
  f.name = name, f.help = help;
  f.kind = kind_of<typename Number<T>::Type>();
  f.at = +[](void* args) -> void* { return &(static_cast<A*>(args)->*M); };
  if constexpr (!std::is_base_of_v<Tensor, T>) {
    using N = typename Number<T>::Type;
    f.get_value = +[](const void* args) {
      const T& x = static_cast<const A*>(args)->*M;
      if constexpr (Number<T>::optional)
        return x ? value_of(*x) : Value();
      else
        return value_of(x);
    };
    f.set_value = +[](void* args, const Value& v) {
      T& x = static_cast<A*>(args)->*M;
      if constexpr (Number<T>::optional)
        x = v.kind == ValueKind::none ? T() : T(from_value<N>(v));
      else
        x = from_value<N>(v);
    };
  }
  return f;
}

}  // namespace detail

/// A tensor argument: field<&A::x>("x", "... k", floats, "rows to normalise"). A size that no input
/// determines is looked up among the operator's integer options, then in its `sizes` function.
template <auto M>
constexpr FieldInfo field(const char* name, Shape shape, DTypes dtypes, const char* help,
                          Domain domain = Domain::real) {
  using T = typename detail::Member<decltype(M)>::Type;
  static_assert(std::is_base_of_v<Tensor, T>, "a field is In, Out, InOut, OptIn or OptOut");
  FieldInfo f = detail::described<M>(name, help);
  f.optional = std::is_same_v<T, OptIn> || std::is_same_v<T, OptOut>;
  f.shape = shape, f.dtypes = dtypes, f.domain = domain;
  return f;
}

/// A number in [min, max], or a list of such numbers.
template <auto M, class Low, class High>
constexpr FieldInfo option(const char* name, Low min, High max, const char* help) {
  using T = typename detail::Member<decltype(M)>::Type;
  using N = typename detail::Number<T>::Type;
  using Item = std::conditional_t<std::is_same_v<N, Integers>, std::int64_t, N>;
  static_assert(std::is_arithmetic_v<Item> && !std::is_same_v<Item, bool>, "only numbers have bounds");
  static_assert(std::is_same_v<Item, double> || (std::is_integral_v<Low> && std::is_integral_v<High>),
                "the bounds of an integer are integers");
  FieldInfo f = detail::described<M>(name, help);
  f.optional = detail::Number<T>::optional;
  f.min = Value::of(Item(min)), f.max = Value::of(Item(max));
  return f;
}

/// A flag, a choice whose enumeration has `names_of(T)` beside it, or an unbounded number.
template <auto M>
constexpr FieldInfo option(const char* name, const char* help) {
  using T = typename detail::Member<decltype(M)>::Type;
  using N = typename detail::Number<T>::Type;
  if constexpr (std::is_enum_v<T>) {
    FieldInfo f = detail::described<M>(name, help);
    f.choices = names_of(T{});
    return f;
  } else if constexpr (std::is_same_v<N, bool>) {
    return detail::described<M>(name, help);
  } else if constexpr (std::is_same_v<N, double>) {
    return option<M>(name, -unlimited, unlimited, help);
  } else {
    using Item = std::conditional_t<std::is_same_v<N, Integers>, std::int64_t, N>;
    return option<M>(name, std::numeric_limits<Item>::min(), std::numeric_limits<Item>::max(), help);
  }
}

}  // namespace kolmo
