#include "kolmo/io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "kolmo/base/error.hpp"

namespace kolmo {
namespace {

/// Length of the UTF-8 sequence that starts `s` (RFC 3629: shortest form, no surrogates), 0 if there is none.
std::size_t sequence_length(std::string_view s) {
  const auto byte = [&](std::size_t i) {
    return i < s.size() ? unsigned(static_cast<unsigned char>(s[i])) : 0;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned lead = byte(0), second = byte(1);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

struct Descriptor {
  int value;
  bool owned;
  ~Descriptor() {
    if (owned) ::close(value);
  }
};

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t n = sequence_length(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

std::string printable(std::string_view text, std::size_t limit) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string out;
  while (!text.empty()) {
    const std::size_t n = sequence_length(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    const bool plain = n > 1 || (n == 1 && byte >= 0x20 && byte != 0x7F);
    const std::string piece =
        plain ? std::string(text.substr(0, n)) : std::string{'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    if (out.size() + piece.size() > limit) return out + "...";
    out += piece;
    text.remove_prefix(plain ? n : 1);
  }
  return out;
}

std::string file_label(const std::string& path) {
  return path == "-" ? "standard input" : printable(path, 4096);
}

std::string read_file(const std::string& path) {
  const std::string label = file_label(path);
  const bool standard_input = path == "-";
  const Descriptor file{standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC),
                        !standard_input};
  const auto failed = [&] { fail<InvalidArgument>(label + ": cannot be read: " + std::strerror(errno)); };
  if (file.value < 0) failed();
  struct stat status {};
  if (::fstat(file.value, &status) != 0) failed();
  if (S_ISDIR(status.st_mode)) fail<InvalidArgument>(label + ": is a directory, not a file");
  try {
    std::string content(S_ISREG(status.st_mode) ? std::size_t(status.st_size) + 1 : 1 << 16, '\0');
    std::size_t used = 0;
    for (;;) {
      const ssize_t n = ::read(file.value, content.data() + used, content.size() - used);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) failed();
      if (n == 0) break;
      used += std::size_t(n);
      if (used == content.size()) content.resize(2 * used);
    }
    content.resize(used);
    return content;
  } catch (const std::bad_alloc&) {
    fail<OutOfMemory>(label + ": does not fit in memory");
  }
}

}  // namespace kolmo
