#pragma once
#include <array>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kolmo/op/field.hpp"

namespace kolmo {

/// Columns of a table in the notation of select_columns: numbers, ranges of numbers, or names; empty: none were named.
struct Columns {
  std::string text;

  bool empty() const { return text.empty(); }
  /// Appends a column by its number, or by its name in quotes, which no number or range is mistaken for.
  Columns& add(std::int64_t number);
  Columns& add(std::string_view name);
  /// Appends lags to the column that was added last: ":FIRST-LAST".
  Columns& lags(std::int64_t first, std::int64_t last);
  friend bool operator==(const Columns&, const Columns&) = default;
};

/// What an option's value is: a number, flag or name as of operators; a text; columns; columns with lags.
enum class OptionKind : std::uint8_t { value, text, columns, lagged };

/// The settings with which an option matters: any; an estimator; a test by surrogates; a network inferred pair by pair, or
/// by greedy searches; mutual information of the columns that x and y name, or of all pairs of columns.
enum class OptionUse : std::uint8_t {
  always,
  ksg,
  frequencies,
  ordinal,
  surrogates,
  pairwise,
  greedy,
  one_pair,
  all_pairs
};

/// What a text that names a file is for.
enum class PathUse : std::uint8_t { none, in, out };

/// One option of an analysis, without its types: where its value is in the request, and all that interfaces say of it.
struct OptionInfo : FieldInfo {
  OptionKind option_kind = OptionKind::value;
  std::string_view form{};       ///< what the value of a text looks like, in the command's help: "START:END"
  std::string_view alias{};      ///< a second name, which every interface takes: "k" of neighbors
  std::string_view automatic{};  ///< what is used where an optional value is left out
  std::string_view
      chosen{};  ///< the word by which the analysis chooses an integer, which is 0 until then: "auto"
  OptionUse use = OptionUse::always;
  bool required = false;  ///< columns that must be named
  bool common = false;    ///< most analyses have it: the command's help lists it in a group of its own
  bool aside = false;     ///< changes no value of the result: device, units of time, what is written
  bool of_files = false;  ///< of the command only, whose data come from files
  bool told = false;      ///< the methods text has a sentence for it, and lists it among no other options
  PathUse path = PathUse::none;
  std::array<const void* (*)(const void*), 4> parts{};  ///< from the request to the struct with the member

  constexpr OptionInfo() = default;
  constexpr explicit OptionInfo(const FieldInfo& f) : FieldInfo(f) {}

 private:
  template <class T>  // before its uses, for clang 14 to find it in constant expressions
  constexpr OptionInfo with(T OptionInfo::*member, std::type_identity_t<T> value) const {
    OptionInfo o = *this;
    o.*member = value;
    return o;
  }

 public:
  // Refinements, as in OptionInfo(option<&A::k>(...)).also("k").
  constexpr OptionInfo also(std::string_view name) const { return with(&OptionInfo::alias, name); }
  constexpr OptionInfo shown_as(std::string_view text) const { return with(&OptionInfo::form, text); }
  constexpr OptionInfo of(OptionUse u) const { return with(&OptionInfo::use, u); }
  constexpr OptionInfo needed() const { return with(&OptionInfo::required, true); }
  constexpr OptionInfo beside_the_result() const { return with(&OptionInfo::aside, true); }
  constexpr OptionInfo names_file(PathUse use) const { return with(&OptionInfo::path, use); }
  constexpr OptionInfo or_chosen_by(std::string_view word) const { return with(&OptionInfo::chosen, word); }
  constexpr OptionInfo for_files() const { return with(&OptionInfo::of_files, true); }
  constexpr OptionInfo in_methods() const { return with(&OptionInfo::told, true); }
  constexpr OptionInfo if_left_out(std::string_view text) const {
    OptionInfo o = with(&OptionInfo::automatic, text);
    o.optional = true;
    return o;
  }

  /// The value as JSON: a number, flag, name or text; null where it is left out.
  nlohmann::ordered_json json(const void* request) const;
  /// Sets a value. Throws InvalidArgument, naming the option, for a value that is not accepted.
  void set_json(void* request, const nlohmann::ordered_json& value) const;
  void set_text(void* request, std::string_view text) const;
  void set_value(void* request, const Value& value) const;
  /// The text of an option that is not of the kind `value`.
  std::string& words(void* request) const { return *static_cast<std::string*>(at(holder(request))); }
  const std::string& words(const void* request) const { return words(const_cast<void*>(request)); }
  /// The value as set_text() reads it.
  std::string text(const void* request) const;
  bool equal(const void* a, const void* b) const;
  /// The option's name on the command line: "--max-lag".
  std::string flag() const;
  /// Whether the name is that of the option or its alias, with '-' for '_' or not.
  bool called(std::string_view word) const;

 private:
  bool is_chosen(const void* request) const;
  template <class F>
  void naming_chosen(const F& set) const;  ///< sets; errors also name the word `chosen`
  const void* holder(const void* request) const;
  void* holder(void* request) const { return const_cast<void*>(holder(static_cast<const void*>(request))); }
};

using Options = std::span<const OptionInfo>;

/// An option that is a text, and one that names columns.
template <auto M>
constexpr OptionInfo text_option(const char* name, const char* form, const char* help) {
  OptionInfo o;
  o.name = name, o.help = help, o.form = form, o.option_kind = OptionKind::text;
  o.at =
      +[](void* p) -> void* { return &(static_cast<typename detail::Member<decltype(M)>::Class*>(p)->*M); };
  return o;
}
template <auto M>
constexpr OptionInfo columns_option(const char* name, const char* help) {
  OptionInfo o;
  o.name = name, o.help = help, o.form = "COLS", o.option_kind = OptionKind::columns;
  o.at = +[](void* p) -> void* {
    return &(static_cast<typename detail::Member<decltype(M)>::Class*>(p)->*M).text;
  };
  return o;
}
template <auto M>
constexpr OptionInfo lagged_option(const char* name, const char* help) {
  OptionInfo o = columns_option<M>(name, help);
  o.form = "COL[:LAGS],...", o.option_kind = OptionKind::lagged;
  return o;
}
/// A number, flag or name as of operators. Also names that may be left out.
template <auto M, class... Bounds>
constexpr OptionInfo value_option(const char* name, Bounds... bounds_and_help) {
  using T = typename detail::Member<decltype(M)>::Type;
  using N = typename detail::Number<T>::Type;
  if constexpr (detail::Number<T>::optional && std::is_enum_v<N>) {
    FieldInfo f = detail::described<M>(name, bounds_and_help...);
    f.optional = true, f.choices = names_of(N{});
    return OptionInfo(f);
  } else {
    return OptionInfo(option<M>(name, bounds_and_help...));
  }
}

/// The way to a member, with one step before it. A longer way than there is room for does not compile.
constexpr auto steps(const void* (*first)(const void*), const decltype(OptionInfo::parts)& rest) {
  if (rest[3]) throw "the way to the member of an option has more than four steps";
  return decltype(OptionInfo::parts){first, rest[0], rest[1], rest[2]};
}

/// The options of a member M of requests, or of a base B of the request R, as options of the request.
template <auto M, std::size_t N>
constexpr std::array<OptionInfo, N> within(std::array<OptionInfo, N> options) {
  using R = typename detail::Member<decltype(M)>::Class;
  const auto step = +[](const void* r) -> const void* { return &(static_cast<const R*>(r)->*M); };
  for (OptionInfo& o : options) o.parts = steps(step, o.parts);
  return options;
}
template <class R, class B, std::size_t N>
constexpr std::array<OptionInfo, N> inherited(std::array<OptionInfo, N> options) {
  const auto step =
      +[](const void* r) -> const void* { return static_cast<const B*>(static_cast<const R*>(r)); };
  for (OptionInfo& o : options) o.parts = steps(step, o.parts);
  return options;
}
template <std::size_t... N>
constexpr auto join(const std::array<OptionInfo, N>&... lists) {
  std::array<OptionInfo, (N + ...)> all;
  std::size_t n = 0;
  const auto append = [&](const auto& list) {
    for (const OptionInfo& o : list) all[n++] = o;
  };
  (append(lists), ...);
  return all;
}
template <class... O>
constexpr std::array<OptionInfo, sizeof...(O)> list_of(const O&... o) {
  return {o...};
}
/// The options without one, which another option of the same name replaces.
template <std::size_t N>
constexpr std::array<OptionInfo, N - 1> without(std::string_view name,
                                                const std::array<OptionInfo, N>& options) {
  std::array<OptionInfo, N - 1> rest;
  std::size_t n = 0;
  for (const OptionInfo& o : options)
    if (o.name != name) rest[n++] = o;
  return rest;
}
/// The options, of which one has another help.
template <std::size_t N>
constexpr std::array<OptionInfo, N> with_help(std::string_view name, const char* help,
                                              std::array<OptionInfo, N> options) {
  for (OptionInfo& o : options)
    if (o.name == name) o.help = help;
  return options;
}
/// Options that matter with one setting.
template <std::size_t N>
constexpr std::array<OptionInfo, N> of_use(OptionUse use, std::array<OptionInfo, N> options) {
  for (OptionInfo& o : options) o.use = use;
  return options;
}
/// Options for which the methods text has sentences of their own.
template <std::size_t N>
constexpr std::array<OptionInfo, N> told(std::array<OptionInfo, N> options) {
  for (OptionInfo& o : options) o.told = true;
  return options;
}
template <std::size_t N>
constexpr std::array<OptionInfo, N> common(std::array<OptionInfo, N> options) {
  for (OptionInfo& o : options) o.common = true;
  return options;
}

/// The option with this name or alias. Throws InvalidArgument, with the nearest name, if there is none; `analysis` is for
/// the message.
const OptionInfo& find_option(Options options, std::string_view name, std::string_view analysis);

}  // namespace kolmo
