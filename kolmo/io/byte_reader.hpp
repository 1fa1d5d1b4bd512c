#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace kolmo {

/// Reads the bytes of a file, a pipe or memory, piece by piece, and can look ahead.
class ByteReader {
 public:
  /// Puts up to n bytes, n > 0, at `to` and returns how many. It returns 0 only at the end.
  using Source = std::function<std::size_t(char* to, std::size_t n)>;
  /// `expected`: the number of bytes that will come, or 0 if it is not known.
  explicit ByteReader(Source source, std::uint64_t expected = 0)
      : source_(std::move(source)), expected_(expected) {}

  /// Returns the next n bytes, or fewer at the end. They are not consumed.
  std::string_view peek(std::size_t n);
  /// Reads n bytes, or fewer at the end.
  std::size_t read(char* to, std::size_t n);
  /// Reads everything that is left. Throws OutOfMemory, and InvalidArgument if it is more than `most` bytes,
  /// naming `label`.
  std::string rest(const std::string& label, std::uint64_t most = UINT64_MAX);
  std::uint64_t expected() const { return expected_; }

 private:
  Source source_;
  std::uint64_t expected_;
  std::string ahead_;  // bytes that were looked at, but not read
};

/// Reads bytes in memory, which must outlive the reader.
ByteReader bytes_of(std::string_view text);
/// Reads the bytes of a file as they are; "-" is standard input. Throws InvalidArgument, naming the file, if
/// it is missing, a directory or unreadable.
ByteReader open_raw(const std::string& path);
/// Whether a symbolic link in the last place of a path is followed.
enum class Links : std::uint8_t { followed, refused };
/// Reads the bytes of a regular file; never waits. Throws InvalidArgument, naming the file, also if it is
/// anything else: a pipe, a device, a socket.
ByteReader open_regular(const std::string& path, Links links);
/// Does what open_raw does, and unpacks bytes that begin as gzip does (see gunzip).
ByteReader open_bytes(const std::string& path);

}  // namespace kolmo
