#include "kolmo/io/record_text.hpp"

#include <algorithm>

namespace kolmo {
namespace {

using Json = nlohmann::ordered_json;

void append(const Json& j, std::size_t level, std::string& text) {
  const bool flat =
      std::none_of(j.begin(), j.end(), [](const Json& member) { return member.is_structured(); });
  if (level >= 4 || !j.is_structured() || (level > 0 && flat)) {
    text += j.dump();
    return;
  }
  text += j.is_object() ? '{' : '[';
  for (const auto& [key, member] : j.items()) {
    if (text.back() != '{' && text.back() != '[') text += ',';
    text += '\n' + std::string(level + 1, ' ');
    if (j.is_object()) text += Json(key).dump() + ": ";
    append(member, level + 1, text);
  }
  text += '\n' + std::string(level, ' ') + (j.is_object() ? '}' : ']');
}

}  // namespace

std::string record_text(const Json& record) {
  std::string text;
  append(record, 0, text);
  return text + "\n";
}

}  // namespace kolmo
