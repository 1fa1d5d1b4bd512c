#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "kolmo/flow/option/option.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kolmo::cli {

/// An option that takes one of `names`; the value is the index of the name.
CLI::Option* add_choice(CLI::App& command, const std::string& name, std::int32_t& value,
                        std::span<const std::string_view> names, const std::string& help);
template <class E>
CLI::Option* add_choice(CLI::App& command, const std::string& name, E& value,
                        std::span<const std::string_view> names, const std::string& help) {
  static_assert(std::is_enum_v<E> && std::is_same_v<std::underlying_type_t<E>, std::int32_t>);
  return add_choice(command, name, reinterpret_cast<std::int32_t&>(value), names, help);
}
/// A whole number in [low, high].
CLI::Option* add_count(CLI::App& command, const std::string& name, std::int64_t& value, std::int64_t low,
                       std::int64_t high, const std::string& help);

/// The options of a request. The request must live as long as the command.
void add_options(CLI::App& command, Options options, void* request);

/// The help of an option, with what is used where a value is left out.
std::string help_of(const OptionInfo& option);

}  // namespace kolmo::cli
