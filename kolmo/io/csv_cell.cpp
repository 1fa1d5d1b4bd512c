#include "kolmo/io/csv_cell.hpp"

#include "kolmo/base/number_text.hpp"

namespace kolmo {
namespace {

bool is_formula(std::string_view text) {
  constexpr std::string_view starts = "=+-@\t\r\n";
  return text.size() > 1 && starts.find(text[0]) != starts.npos && !number_in(text);
}

}  // namespace

std::string csv_cell(std::string_view text) {
  const bool formula = is_formula(text);
  if (text.empty() || (!formula && text.find_first_of(",;\t\"\r\n") == text.npos && text[0] != '%' &&
                       text[0] != '#' && text[0] != ' ' && text.back() != ' '))
    return std::string(text);
  std::string out = formula ? "\"'" : "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace kolmo
