#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace kolmo {

/// Bytes of a file, a pipe or memory, piece by piece, with a look at what comes next.
class ByteReader {
 public:
  /// Puts up to n bytes, n > 0, at `to` and returns how many: 0 at the end only.
  using Source = std::function<std::size_t(char* to, std::size_t n)>;
  /// `expected`: the number of bytes that will come, 0 if it is not known.
  explicit ByteReader(Source source, std::uint64_t expected = 0)
      : source_(std::move(source)), expected_(expected) {}

  /// The next n bytes, or fewer at the end; they are still to be read.
  std::string_view peek(std::size_t n);
  /// Reads n bytes, or fewer at the end.
  std::size_t read(char* to, std::size_t n);
  /// Everything that is left. Throws OutOfMemory, and InvalidArgument if it is more than `most` bytes, naming
  /// `label`.
  std::string rest(const std::string& label, std::uint64_t most = UINT64_MAX);
  std::uint64_t expected() const { return expected_; }

 private:
  Source source_;
  std::uint64_t expected_;
  std::string ahead_;  // looked at, not read
};

/// Bytes in memory, which must outlive the reader.
ByteReader bytes_of(std::string_view text);
/// The bytes of a file as they are; "-" is standard input. Throws InvalidArgument, naming the file, if it is
/// missing, a directory or unreadable.
ByteReader open_raw(const std::string& path);
/// What becomes of a symbolic link in the last place of a path.
enum class Links : std::uint8_t { followed, refused };
/// The bytes of a regular file; never waits. Throws InvalidArgument, naming the file, also if it is anything
/// else: a pipe, a device, a socket.
ByteReader open_regular(const std::string& path, Links links);
/// As open_raw, unpacked if they are gzip, which is told by their start (see gunzip).
ByteReader open_bytes(const std::string& path);

}  // namespace kolmo
