#pragma once
#include <string>
#include <string_view>

namespace kolmo::tune {

/// SHA-256 in lower-case hexadecimal digits, the first `digits` of 64.
std::string sha256(std::string_view bytes, std::size_t digits = 64);

}  // namespace kolmo::tune
