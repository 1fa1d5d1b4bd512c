#pragma once
#include <string>
#include <string_view>

namespace kolmo {

/// The bytes at the start of a file that refuse_other_formats looks at.
inline constexpr std::size_t format_bytes = 520;

/// Throws InvalidArgument if a file begins as one of a format that Kolmo does not read: names the format, and a line that
/// converts the file. `name` stands for the file in messages.
void refuse_other_formats(std::string_view start, const std::string& name);

/// For a file that is no text, the same by the end of its name; "" if that says nothing.
std::string other_format_by_name(const std::string& name);

}  // namespace kolmo
