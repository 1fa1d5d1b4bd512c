#include "kolmo/io/file.hpp"

namespace kolmo {

std::string file_label(const std::string& path) {
  return path == "-" ? "standard input" : printable(path, 4096);
}

std::string read_file(const std::string& path, std::uint64_t most) {
  return open_raw(path).rest(file_label(path), most);
}

std::string read_regular(const std::string& path, std::uint64_t most, Links links) {
  return open_regular(path, links).rest(file_label(path), most);
}

}  // namespace kolmo
