#pragma once
#include <string>
#include <string_view>

namespace kolmo {

/// The bytes of a file, or of standard input for "-". Raises InvalidArgument, naming the file, where it is
/// missing, a directory or unreadable.
std::string read_file(const std::string& path);

/// How messages call a file: its path, or "standard input" for "-".
std::string file_label(const std::string& path);

/// `text` for a message: at most `limit` bytes, control characters and bytes that are not UTF-8 as \xNN.
std::string printable(std::string_view text, std::size_t limit = 40);
bool is_utf8(std::string_view text);

}  // namespace kolmo
