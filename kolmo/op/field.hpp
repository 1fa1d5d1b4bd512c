#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "kolmo/base/tensor.hpp"

namespace kolmo {

/// The values a tensor may hold; cases are drawn from it and pages print it.
enum class Domain : std::uint8_t { real, positive, unit, probability, count };

/// A tensor argument. `shape` is a list of names, e.g. "n d" or "... k": equal names mean equal extents,
/// "..." stands for any leading (batch) dimensions. A name that no input fixes is looked up among the
/// operator's integer options, then asked of its `sizes` function. Fields that accept several dtypes share
/// one dtype; the operator's `output_dtype` may give the outputs among them another.
template <class Args, class T>
struct Field {
  std::string_view name;
  T Args::*member;
  std::string_view shape;
  DTypes dtypes;
  std::string_view help;
  Domain domain = Domain::real;
};
template <class Args, class T, class... Rest>
Field(const char*, T Args::*, Rest...) -> Field<Args, T>;

/// A number or flag, accepted in [min, max].
template <class Args, class T>
struct Option {
  std::string_view name;
  T Args::*member;
  double min, max;
  std::string_view help;
};
template <class Args, class T, class... Rest>
Option(const char*, T Args::*, Rest...) -> Option<Args, T>;

/// An enumeration; `names` in the order of its values, which start at 0.
template <class Args, class T>
struct Choice {
  std::string_view name;
  T Args::*member;
  std::span<const std::string_view> names;
  std::string_view help;
};
template <class Args, class T, class... Rest>
Choice(const char*, T Args::*, Rest...) -> Choice<Args, T>;

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

enum class FieldKind : std::uint8_t { in, out, inout, integer, real, flag, choice };

/// A field without its types: what the command line, Python, checks and pages see.
struct FieldInfo {
  std::string_view name, help;
  FieldKind kind;
  bool optional;  ///< a tensor that may be left out
  std::string_view shape;
  DTypes dtypes;
  Domain domain;
  double min, max;
  std::span<const std::string_view> choices;
  void* (*at)(void* args);

  bool is_tensor() const { return kind <= FieldKind::inout; }
  bool is_input() const { return kind == FieldKind::in || kind == FieldKind::inout; }
  bool is_output() const { return kind == FieldKind::out || kind == FieldKind::inout; }
  Tensor& tensor(void* args) const { return *static_cast<Tensor*>(at(args)); }
  const Tensor& tensor(const void* args) const {
    return *static_cast<const Tensor*>(at(const_cast<void*>(args)));
  }
  /// Options as a number; choices as the index of their name.
  double number(const void* args) const;
  void set_number(void* args, double value) const;
};

namespace detail {

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
  else if constexpr (std::is_same_v<T, double>)
    return FieldKind::real;
  else {
    static_assert(std::is_enum_v<T> && sizeof(T) == 4, "options are bool, int64, double or 4-byte enums");
    return FieldKind::choice;
  }
}

template <class Args, std::size_t I>
constexpr auto accessor = +[](void* args) -> void* {
  constexpr auto member = std::get<I>(Args::fields()).member;  // the tuple is not made again for each access
  return &(static_cast<Args*>(args)->*member);
};

template <class Args, class T>
constexpr FieldInfo describe(const Field<Args, T>& f, void* (*at)(void*)) {
  constexpr bool optional = std::is_same_v<T, OptIn> || std::is_same_v<T, OptOut>;
  return {f.name, f.help, kind_of<T>(), optional, f.shape, f.dtypes, f.domain, 0, 0, {}, at};
}
template <class Args, class T>
constexpr FieldInfo describe(const Option<Args, T>& o, void* (*at)(void*)) {
  return {o.name, o.help, kind_of<T>(), true, {}, {}, {}, o.min, o.max, {}, at};
}
template <class Args, class T>
constexpr FieldInfo describe(const Choice<Args, T>& c, void* (*at)(void*)) {
  return {c.name, c.help, kind_of<T>(), true, {}, {}, {}, 0, double(c.names.size()) - 1, c.names, at};
}

template <class Args>
constexpr auto field_infos() {
  constexpr auto count = std::tuple_size_v<decltype(Args::fields())>;
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<FieldInfo, count>{describe(std::get<I>(Args::fields()), accessor<Args, I>)...};
  }
  (std::make_index_sequence<count>{});
}

}  // namespace detail
}  // namespace kolmo
