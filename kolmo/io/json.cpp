#include "kolmo/io/json.hpp"

#include "kolmo/io/file.hpp"

namespace kolmo {

void fail_no_json(const std::string& label, std::string_view why) {
  fail<InvalidArgument>(label + ": is no JSON: " + printable(why, 300));
}

void check_json_depth(std::string_view text, const std::string& label) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
        break;
      case '[':
      case '{':
        if (++depth > json_depth)
          fail<InvalidArgument>(label + ": is nested deeper than " + std::to_string(json_depth) + " levels");
        break;
      case ']':
      case '}':
        --depth;
        break;
      default:
        break;
    }
  }
}

}  // namespace kolmo
