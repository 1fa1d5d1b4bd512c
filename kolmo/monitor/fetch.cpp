#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "kolmo/base/error.hpp"
#include "kolmo/monitor/address.hpp"
#include "kolmo/monitor/server.hpp"

namespace kolmo::monitor {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t most = 64 << 20;

/// Waits until the socket is ready. Throws Error after the deadline.
void wait_for(const Socket& s, short events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{s.get(), events, 0};
    const int n = left > 0 ? ::poll(&ready, 1, int(left)) : 0;
    if (n > 0) return;
    if (n == 0) fail<Error>("it took too long");
    if (errno != EINTR) fail<Error>(std::strerror(errno));
  }
}

/// Sends the request, and returns everything that the other side sends until it closes.
std::string ask(const Socket& s, std::string_view request, Clock::time_point deadline) {
  while (!request.empty()) {
    wait_for(s, POLLOUT, deadline);
    const ssize_t n = ::send(s.get(), request.data(), request.size(), MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) fail<Error>(std::strerror(errno));
    if (n > 0) request.remove_prefix(std::size_t(n));
  }
  std::string answer;
  for (char piece[1 << 16];;) {
    wait_for(s, POLLIN, deadline);
    const ssize_t n = ::recv(s.get(), piece, sizeof piece, 0);
    if (n == 0) return answer;
    if (n < 0 && errno != EAGAIN && errno != EINTR) fail<Error>(std::strerror(errno));
    if (n > 0) answer.append(piece, std::size_t(n));
    if (answer.size() > most) fail<Error>("more than 64 MiB came");
  }
}

}  // namespace

std::string fetch(const std::string& url, const std::string& path) {
  std::string where = url;
  if (where.starts_with("http://")) where = where.substr(7);
  if (const auto slash = where.find('/'); slash != std::string::npos) where = where.substr(0, slash);
  const Address a = Address::parse(where);
  std::string answer;
  try {
    constexpr double to_connect = 3;
    constexpr auto for_all = std::chrono::seconds(15);
    const auto deadline = Clock::now() + for_all;
    // With HTTP/1.0 the body ends where the connection does.
    answer = ask(connect_to(a, to_connect), "GET " + path + " HTTP/1.0\r\nHost: " + a.text() + "\r\n\r\n",
                 deadline);
  } catch (const Error& e) {
    fail<Error>(a.url() + ": no answer (" + e.what() + "); is a process serving there, with --metrics " +
                where + "?");
  }
  const auto head = answer.find("\r\n\r\n");
  if (!answer.starts_with("HTTP/1.") || head == std::string::npos || head < 12)
    fail<Error>(a.url() + ": what answers there does not speak HTTP");
  if (const std::string status = answer.substr(9, 3); status != "200")
    fail<Error>(a.url() + ": " + path + " answered with status " + status);
  return answer.substr(head + 4);
}

}  // namespace kolmo::monitor
