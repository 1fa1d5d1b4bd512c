#include "kolmo/io/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <new>

#include "kolmo/base/error.hpp"

namespace kolmo {
namespace {

class Unpacker {
 public:
  Unpacker(ByteReader packed, const std::string& name) : packed_(std::move(packed)), name_(name) {
    constexpr int gzip_of_any_window = 16 + MAX_WBITS;
    if (inflateInit2(&state_, gzip_of_any_window) != Z_OK) throw std::bad_alloc();
  }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  ~Unpacker() { inflateEnd(&state_); }

  std::size_t read(char* to, std::size_t n) {
    const auto room = uInt(std::min<std::size_t>(n, std::numeric_limits<uInt>::max()));
    state_.next_out = reinterpret_cast<Bytef*>(to), state_.avail_out = room;
    while (state_.avail_out == room && !ended_) {
      if (!state_.avail_in && !refill()) {
        if (member_open_) damaged("the file ends within the compressed data");
        ended_ = true;
        break;
      }
      step();
    }
    const std::size_t got = room - state_.avail_out;
    given_ += got;
    if (given_ > unpacked_bytes_allowed && given_ / unpacked_ratio_allowed > taken_)
      fail<InvalidArgument>(name_ + ": the gzip data grows to more than " +
                            std::to_string(unpacked_ratio_allowed) +
                            " times its size; if this is meant, unpack it first (gunzip)");
    return got;
  }

 private:
  bool refill() {
    const std::size_t n = packed_.read(input_.data(), input_.size());
    state_.next_in = reinterpret_cast<Bytef*>(input_.data()), state_.avail_in = uInt(n);
    taken_ += n;
    return n > 0;
  }

  void step() {
    if (!member_open_ && *state_.next_in == 0) {  // padding
      ++state_.next_in, --state_.avail_in;
      padded_ = true;
      return;
    }
    if (padded_) damaged("other bytes follow the compressed data");
    member_open_ = true;
    const int result = inflate(&state_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      member_open_ = false;
      inflateReset(&state_);
    } else if (result == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      damaged(state_.msg ? state_.msg : "not a gzip stream");
    }
  }

  [[noreturn]] void damaged(const char* why) const {
    fail<InvalidArgument>(name_ + ": the gzip data is damaged or cut short: " + why);
  }

  ByteReader packed_;
  const std::string name_;
  z_stream state_{};
  std::array<char, 1 << 16> input_;
  std::uint64_t taken_ = 0, given_ = 0;
  bool member_open_ = false, padded_ = false, ended_ = false;
};

}  // namespace

bool is_gzip(std::string_view start) { return start.starts_with("\x1f\x8b"); }

ByteReader gunzip(ByteReader packed, const std::string& name) {
  const auto unpacker = std::make_shared<Unpacker>(std::move(packed), name);
  return ByteReader([unpacker](char* to, std::size_t n) { return unpacker->read(to, n); });
}

}  // namespace kolmo
