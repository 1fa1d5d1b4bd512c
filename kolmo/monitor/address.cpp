#include "kolmo/monitor/address.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "kolmo/base/error.hpp"

namespace kolmo::monitor {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// Looks up the addresses of the host. Throws Error.
Addresses resolve(const Address& a, int flags) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM, hints.ai_flags = flags | AI_NUMERICSERV;
  const int status = ::getaddrinfo(a.host.c_str(), std::to_string(a.port).c_str(), &hints, &found);
  if (status != 0) fail<Error>(status == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(status));
  return {found, freeaddrinfo};
}

Socket socket_for(const addrinfo& a) {
  return Socket(::socket(a.ai_family, a.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a.ai_protocol));
}

bool is_loopback(const sockaddr* a) {
  if (a->sa_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in*>(a)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  return a->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(a)->sin6_addr);
}

int port_of(const Socket& s) {
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  if (::getsockname(s.get(), reinterpret_cast<sockaddr*>(&bound), &length) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
                                           : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
}

/// Waits for the connection. Returns 0, or the number of the error because of which it failed.
int connected(const Socket& s, const addrinfo& a, double seconds) {
  if (s.get() < 0) return errno;
  if (::connect(s.get(), a.ai_addr, a.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd writable{s.get(), POLLOUT, 0};
  int ready = -1;
  do ready = ::poll(&writable, 1, int(1e3 * seconds));
  while (ready < 0 && errno == EINTR);
  if (ready <= 0) return ready == 0 ? ETIMEDOUT : errno;
  int error = 0;
  socklen_t length = sizeof error;
  return ::getsockopt(s.get(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Address Address::parse(const std::string& text) {
  const auto colon = text.rfind(':');
  Address a{colon == std::string::npos ? "" : text.substr(0, colon), -1};
  const std::string port = text.substr(colon == std::string::npos ? 0 : colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), a.port);
  const bool bracketed = a.host.starts_with('[') && a.host.ends_with(']');
  if (bracketed) a.host = a.host.substr(1, a.host.size() - 2);
  const bool bad_host = (!bracketed && a.host.find(':') != std::string::npos) ||
                        a.host.find_first_of("/ []") != std::string::npos || (bracketed && a.host.empty());
  if (error != std::errc() || end != port.data() + port.size() || a.port < 0 || a.port > 65535 || bad_host)
    fail<InvalidArgument>("metrics: '" + text +
                          "' is not an address such as 127.0.0.1:9750, [::1]:9750 or 9750");
  if (a.host.empty()) a.host = "127.0.0.1";
  return a;
}

std::string Address::text() const {
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port);
}

Socket listen_at(Address& address, bool& loopback) {
  const Addresses all = resolve(address, AI_PASSIVE);
  const int yes = 1;
  for (const addrinfo* a = all.get(); a; a = a->ai_next) {
    Socket s = socket_for(*a);
    if (s.get() < 0) continue;
    ::setsockopt(s.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(s.get(), a->ai_addr, a->ai_addrlen) != 0 || ::listen(s.get(), SOMAXCONN) != 0) continue;
    address.port = port_of(s);
    loopback = is_loopback(a->ai_addr);
    return s;
  }
  fail<Error>(std::strerror(errno));
}

Socket connect_to(const Address& address, double seconds) {
  const Addresses all = resolve(address, 0);
  int error = 0;
  for (const addrinfo* a = all.get(); a; a = a->ai_next) {
    Socket s = socket_for(*a);
    if ((error = connected(s, *a, seconds)) == 0) return s;
  }
  fail<Error>(std::strerror(error));
}

}  // namespace kolmo::monitor
