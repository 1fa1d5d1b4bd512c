#pragma once
#include <nlohmann/json_fwd.hpp>

#include "kolmo/flow/option/option.hpp"

namespace kolmo {

/// Describes an option as JSON: name, alias, kind, default, bounds, choices, help. `usual` is a request with the usual values.
nlohmann::ordered_json describe(const OptionInfo& option, const void* usual);

/// The texts with which a command describes itself.
struct CommandTexts {
  std::string_view name, function, summary, about, example, source;
};
/// The texts of a type that has them as members.
template <class Info>
CommandTexts texts_of(const Info& i) {
  return {i.name, i.function, i.summary, i.about, i.example, i.source};
}
/// Describes a command and its options as JSON.
nlohmann::ordered_json describe(const CommandTexts& texts, Options options, const void* usual);

}  // namespace kolmo
