#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kolmo/base/error.hpp"

namespace kolmo {

/// The most arrays and objects within each other in JSON that Kolmo reads. Code that walks a document
/// recurses, so the depth of a document must not decide how much stack it takes.
inline constexpr int json_depth = 64;

/// Throws InvalidArgument, naming `label`, if the text has more levels than json_depth. Looks at brackets
/// outside strings only; the text need not be JSON.
void check_json_depth(std::string_view text, const std::string& label);

/// Throws InvalidArgument, naming `label`. `why` may hold bytes of the text.
[[noreturn]] void fail_no_json(const std::string& label, std::string_view why);

/// Parses the JSON in `text`. Throws InvalidArgument, naming `label`, if it is nested too deeply or is no
/// JSON.
template <class Json = nlohmann::json>
Json parse_json(std::string_view text, const std::string& label) {
  check_json_depth(text, label);
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::exception& e) {
    fail_no_json(label, e.what());
  }
}

}  // namespace kolmo
