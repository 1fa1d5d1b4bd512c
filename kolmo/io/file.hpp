#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "kolmo/io/byte_reader.hpp"

namespace kolmo {

/// Reads the bytes of a file, or of standard input for "-". Throws InvalidArgument, naming the file, if it is
/// missing, a directory, unreadable or longer than `most` bytes.
std::string read_file(const std::string& path, std::uint64_t most = UINT64_MAX);

/// Reads the bytes of a regular file of at most `most` bytes (open_regular).
std::string read_regular(const std::string& path, std::uint64_t most, Links links = Links::followed);

/// The name of a file in messages: its path, or "standard input" for "-".
std::string file_label(const std::string& path);

/// Makes `text` safe for a terminal: at most `limit` bytes, with control characters, marks that change the
/// direction of text, and bytes that are not UTF-8 written as \xNN.
std::string printable(std::string_view text, std::size_t limit = 40);
bool is_utf8(std::string_view text);

}  // namespace kolmo
