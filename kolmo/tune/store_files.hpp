#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kolmo/tune/store.hpp"

namespace kolmo::tune {

/// Reads a regular file of at most 4 MiB; empty if it cannot be read or is anything else, for example a
/// symbolic link.
std::optional<std::string> read_small(const std::string& file);
/// Reads the same; throws InvalidArgument that says why it cannot.
std::string read_profile_text(const std::string& file);
/// The entries of a folder, by name; empty if it cannot be read or is a symbolic link.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// The profiles of a bundle (Store::export_to). Throws InvalidArgument, naming `file`, unless all are valid.
std::vector<Store::Found> parse_bundle(const std::string& text, const std::string& file);

/// Whether a file declares a later schema. Such files are never overwritten or removed.
bool newer_schema(const std::string& file);

}  // namespace kolmo::tune
