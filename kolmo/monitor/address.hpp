#pragma once
#include <string>
#include <utility>

namespace kolmo::monitor {

/// Owns a file descriptor, and closes it at the end.
class Socket {
 public:
  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket();
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

/// Where metrics are served: "127.0.0.1:9750", "[::1]:9750", "node7:9750", or a port alone on 127.0.0.1.
struct Address {
  std::string host;
  int port = 0;

  /// Throws InvalidArgument for a malformed address.
  static Address parse(const std::string& text);
  /// Writes the address: "node7:9750", with brackets around an IPv6 address.
  std::string text() const;
  std::string url() const { return "http://" + text() + "/"; }
};

/// Returns a socket that listens at the address without blocking. Port 0 is replaced by the free port that
/// was taken. `loopback` becomes true if only this machine can reach it. Throws Error that says why there is
/// none.
Socket listen_at(Address& address, bool& loopback);
/// Returns a socket connected to the address within `seconds`, without blocking. Throws Error that says why
/// there is none.
Socket connect_to(const Address& address, double seconds);

}  // namespace kolmo::monitor
