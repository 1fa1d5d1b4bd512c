#pragma once
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace kolmo {

/// The shortest text that reads back as this number: "0.1", "-1e+308".
inline std::string number_text(double x) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

/// The number that a text is; none if it is anything else, or if something follows.
inline std::optional<double> number_in(std::string_view text) {
  double x = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return x;
}

/// The number with so many significant digits, without zeros at the end: "0.1235", "1.2e-09". A point is the decimal mark
/// whatever the locale of the process.
inline std::string significant_text(double x, int digits) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, x, std::chars_format::general, digits).ptr};
}

}  // namespace kolmo
