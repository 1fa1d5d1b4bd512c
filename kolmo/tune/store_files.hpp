#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kolmo::tune {

/// The content of a file of at most 4 MiB; nothing when it cannot be read.
std::optional<std::string> read_small(const std::string& file);
/// What a folder holds, by name; nothing when it cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// Whether a file says that it is of a later schema: it is never overwritten or removed.
bool newer_schema(const std::string& file);

}  // namespace kolmo::tune
