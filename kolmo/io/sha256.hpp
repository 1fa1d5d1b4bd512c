#pragma once
#include <string>
#include <string_view>

namespace kolmo {

/// Returns the first `digits` of the 64 lower-case hexadecimal digits of SHA-256.
std::string sha256(std::string_view bytes, std::size_t digits = 64);

}  // namespace kolmo
