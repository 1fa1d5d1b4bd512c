#include "kolmo/io/json.hpp"

namespace kolmo {

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
