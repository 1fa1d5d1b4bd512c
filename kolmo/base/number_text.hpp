#pragma once
#include <charconv>
#include <string>

namespace kolmo {

/// The shortest text that reads back as this number: "0.1", "-1e+308".
inline std::string number_text(double x) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

}  // namespace kolmo
