#include "kolmo/io/byte_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include "kolmo/base/error.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/gzip.hpp"

namespace kolmo {
namespace {

[[noreturn]] void cannot_read(const std::string& label) {
  fail<InvalidArgument>(label + ": cannot be read: " + std::strerror(errno));
}

struct OpenFile {
  int descriptor;
  bool owned;
  OpenFile(int d, bool o) : descriptor(d), owned(o) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (owned) ::close(descriptor);
  }
};

}  // namespace

std::string_view ByteReader::peek(std::size_t n) {
  while (ahead_.size() < n) {
    const std::size_t had = ahead_.size();
    ahead_.resize(n);
    const std::size_t more = source_(ahead_.data() + had, n - had);
    ahead_.resize(had + more);
    if (!more) break;
  }
  return std::string_view(ahead_).substr(0, n);
}

std::size_t ByteReader::read(char* to, std::size_t n) {
  std::size_t done = std::min(n, ahead_.size());
  std::copy_n(ahead_.data(), done, to);
  ahead_.erase(0, done);
  for (std::size_t more = 1; more && done < n; done += more) more = source_(to + done, n - done);
  return done;
}

std::string ByteReader::rest(const std::string& label, std::uint64_t most) {
  constexpr std::size_t piece = 1 << 16;
  const auto too_long = [&] {
    fail<InvalidArgument>(label + ": is longer than " + std::to_string(most) + " bytes");
  };
  if (expected_ > most) too_long();
  try {
    std::string content(expected_ ? std::size_t(expected_) + 1 : piece, '\0');
    std::size_t used = 0;
    for (;;) {
      used += read(content.data() + used, content.size() - used);
      if (used > most) too_long();
      if (used < content.size()) break;
      content.resize(2 * used);
    }
    content.resize(used);
    return content;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {}
  fail<OutOfMemory>(label + ": does not fit in memory");
}

ByteReader bytes_of(std::string_view text) {
  const auto source = [text](char* to, std::size_t n) mutable {
    n = std::min(n, text.size());
    std::copy_n(text.data(), n, to);
    text.remove_prefix(n);
    return n;
  };
  return ByteReader(source, text.size());
}

namespace {

ByteReader open_descriptor(int descriptor, bool owned, const std::string& label, bool only_regular) {
  const auto file = std::make_shared<OpenFile>(descriptor, owned);
  struct stat status {};
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0) cannot_read(label);
  if (S_ISDIR(status.st_mode)) fail<InvalidArgument>(label + ": is a directory, not a file");
  if (only_regular && !S_ISREG(status.st_mode)) fail<InvalidArgument>(label + ": is not a regular file");
  const auto source = [file, label](char* to, std::size_t n) {
    for (;;) {
      const ssize_t got = ::read(file->descriptor, to, n);
      if (got >= 0) return std::size_t(got);
      if (errno != EINTR) cannot_read(label);
    }
  };
  return ByteReader(source, S_ISREG(status.st_mode) ? std::uint64_t(status.st_size) : 0);
}

}  // namespace

ByteReader open_raw(const std::string& path) {
  const bool owned = path != "-";
  const int descriptor = owned ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  return open_descriptor(descriptor, owned, file_label(path), false);
}

ByteReader open_regular(const std::string& path, Links links) {
  const int follow = links == Links::refused ? O_NOFOLLOW : 0;  // O_NONBLOCK: opening a pipe would wait
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | follow);
  if (descriptor < 0 && errno == ELOOP && follow)
    fail<InvalidArgument>(file_label(path) + ": is a symbolic link, which is not followed here");
  return open_descriptor(descriptor, true, file_label(path), true);
}

ByteReader open_bytes(const std::string& path) {
  ByteReader raw = open_raw(path);
  return is_gzip(raw.peek(2)) ? gunzip(std::move(raw), file_label(path)) : raw;
}

}  // namespace kolmo
