#include "kolmo/flow/result/markup.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kolmo/base/error.hpp"

namespace kolmo::markup {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::string with_typographic_minus(std::string text) {
  replace_all(text, "-", "\u2212");
  return text;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r')
          out += "\uFFFD";
        else
          out += c;
    }
  }
  return out;
}

std::string script_json(const nlohmann::json& value) {
  std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  replace_all(text, "<", "\\u003c");
  replace_all(text, ">", "\\u003e");
  replace_all(text, "&", "\\u0026");
  replace_all(text, "\u2028", "\\u2028");
  replace_all(text, "\u2029", "\\u2029");
  return text;
}

std::string number(double value, int digits) {
  if (std::isnan(value)) return "\u2013";
  if (value == 0) return "0";
  return with_typographic_minus(fmt::format("{:.{}g}", value, digits));
}

std::string fixed(double value, int decimals) {
  if (std::isnan(value)) return "\u2013";
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find_first_not_of("-0.") == std::string::npos && text[0] == '-') text.erase(0, 1);
  return with_typographic_minus(std::move(text));
}

std::string exact(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "INF" : "-INF";
  return fmt::format("{}", value);
}

std::size_t code_points(std::string_view text) {
  std::size_t count = 0;
  for (char c : text) count += starts_character(c);
  return count;
}

std::string shorten(std::string_view text, std::size_t length) {
  if (code_points(text) <= length) return std::string(text);
  std::size_t kept = 0, end = 0;
  for (; end < text.size(); ++end) {
    if (starts_character(text[end]) && kept++ + 1 == length) break;
  }
  return std::string(text.substr(0, end)) + "\u2026";
}

std::string fill(std::string_view text, const std::map<std::string, std::string, std::less<>>& values) {
  std::string out;
  for (;;) {
    const std::size_t open = text.find("{{");
    out += text.substr(0, open);
    if (open == std::string_view::npos) return out;
    const std::size_t close = text.find("}}", open);
    require(close != std::string_view::npos, "report template: {{ without }}");
    const std::string_view key = text.substr(open + 2, close - open - 2);
    const auto found = values.find(key);
    if (found == values.end())
      fail<InvalidArgument>("report template: no value for {{" + std::string(key) + "}}");
    out += found->second;
    text.remove_prefix(close + 2);
  }
}

}  // namespace kolmo::markup
