#pragma once
#include <filesystem>
#include <fstream>
#include <locale>

namespace kolmo {

/// A text file of the system to read, in which a point is the decimal mark whatever the locale of the process.
struct SystemFile : std::ifstream {
  explicit SystemFile(const std::filesystem::path& path) : std::ifstream(path) {
    imbue(std::locale::classic());
  }
};

}  // namespace kolmo
