#include "kolmo/monitor/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "kolmo/base/error.hpp"
#include "kolmo/monitor/address.hpp"
#include "kolmo/runtime/metrics.hpp"

namespace kolmo::monitor {
namespace {

std::string refusal(const std::string& address) {
  try {
    const Server server(address);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Server, ServesMetricsSnapshotAndPage) {
  const Server server("0");
  EXPECT_TRUE(server.loopback());
  EXPECT_TRUE(server.url().starts_with("http://127.0.0.1:")) << server.url();
  metrics::gauge("kolmo_test_served").set(41);
  EXPECT_NE(fetch(server.url(), "/metrics").find("\nkolmo_test_served 41\n"), std::string::npos);
  metrics::gauge("kolmo_test_served").set(42);
  bool seen = false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!seen && std::chrono::steady_clock::now() < end)  // what was collected is kept for a moment
    seen = fetch(server.url(), "/metrics").find("\nkolmo_test_served 42\n") != std::string::npos;
  EXPECT_TRUE(seen);
  const auto s = nlohmann::json::parse(fetch(server.url(), "/api/v1/snapshot"));
  EXPECT_EQ(s["cpu"].size(), 1U);
  EXPECT_FALSE(s.contains("curves"));
  EXPECT_TRUE(nlohmann::json::parse(fetch(server.url(), "/api/v1/snapshot?curves=1")).contains("curves"));
  const std::string page = fetch(server.url(), "/");
  EXPECT_NE(page.find("</html>"), std::string::npos);
  for (const char* elsewhere : {"src=\"http", "href=\"http", "@import", "url(http"})
    EXPECT_EQ(page.find(elsewhere), std::string::npos) << elsewhere;
  EXPECT_THROW(fetch(server.url(), "/nothing"), Error);
}

TEST(Server, SaysThatAPortIsTaken) {
  const Server first("127.0.0.1:0");
  const std::string address = first.url().substr(7, first.url().size() - 8);
  EXPECT_EQ(refusal(address), "metrics: cannot listen on " + address + ": Address already in use");
  EXPECT_FALSE(fetch(first.url(), "/metrics").empty()) << "the first goes on";
}

TEST(Server, APortIsFreeAgainWhenItEnds) {
  std::string address;
  {
    const Server first("0");
    address = first.url().substr(7, first.url().size() - 8);
    fetch(first.url(), "/metrics");
  }
  EXPECT_EQ(refusal(address), "");
}

/// Another descriptor of the socket that listens at a port, as a child of fork() has it before its handlers ran.
Socket copy_of_listener(int port) {
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_in at{};
    socklen_t size = sizeof at;
    int listens = 0;
    socklen_t flag = sizeof listens;
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &flag) == 0 && listens &&
        ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) == 0 && ntohs(at.sin_port) == port)
      return Socket(::dup(fd));
  }
  return Socket(-1);
}

TEST(Server, APortIsFreeAgainWhileAChildHasItsSocket) {
  std::string address = "127.0.0.1:0";
  std::vector<Socket> copies;
  for (int i = 0; i < 3; ++i) {
    const Server server(address);
    address = server.url().substr(7, server.url().size() - 8);
    copies.push_back(copy_of_listener(Address::parse(address).port));
    ASSERT_GE(copies.back().get(), 0);
  }
}

TEST(Server, RefusesWhatIsNoAddress) {
  for (const char* bad : {"", "x", "127.0.0.1", "127.0.0.1:", ":70000", "a b:1", "127.0.0.1:12x", "::1:80",
                          "[]:80", "http://127.0.0.1:9750", "127.0.0.1:-1"})
    EXPECT_THROW(Server{bad}, InvalidArgument) << bad;
  EXPECT_NE(refusal("no-such-host.invalid:9750"), "");
}

/// Answers one request with these bytes.
class Answers {
 public:
  explicit Answers(std::string bytes)
      : listening_(listen_at(address_, loopback_)), thread_([this, bytes = std::move(bytes)] {
          pollfd readable{listening_.get(), POLLIN, 0};
          ::poll(&readable, 1, -1);
          const Socket s(::accept(listening_.get(), nullptr, nullptr));
          char request[1 << 12];
          [[maybe_unused]] const auto got = ::recv(s.get(), request, sizeof request, 0);
          for (std::string_view rest = bytes; !rest.empty();) {
            const auto n = ::send(s.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
            if (n <= 0) break;
            rest.remove_prefix(std::size_t(n));
          }
        }) {}
  ~Answers() { thread_.join(); }
  std::string url() const { return address_.url(); }

 private:
  Address address_{"127.0.0.1", 0};
  bool loopback_ = false;
  Socket listening_;
  std::thread thread_;
};

TEST(Server, WhatIsNoAnswerIsAnError) {
  const auto fetched = [](const std::string& bytes) {
    const Answers server(bytes);
    try {
      return fetch(server.url(), "/metrics");
    } catch (const Error& e) {
      return "error: " + std::string(e.what());
    }
  };
  EXPECT_EQ(fetched("HTTP/1.0 200 OK\r\nA: b\r\n\r\nbody"), "body");
  EXPECT_THAT(fetched("HTTP/1.1 404 Not Found\r\n\r\n"), testing::HasSubstr("answered with status 404"));
  for (const char* bytes : {"", "HTTP/1.1", "HTTP/1.1 200 OK\r\n", "SSH-2.0-x\r\n\r\n", "\r\n\r\n"})
    EXPECT_THAT(fetched(bytes), testing::HasSubstr("does not speak HTTP")) << bytes;
  EXPECT_THAT(fetched("HTTP/1.1 200 OK\r\n\r\n" + std::string(65 << 20, 'x')), testing::HasSubstr("64 MiB"));
}

TEST(Server, NoAnswerIsAnError) {
  std::string url;
  {
    const Server gone("0");
    url = gone.url();
  }
  EXPECT_THROW(fetch(url, "/metrics"), Error);
  EXPECT_THROW(fetch("nonsense", "/metrics"), InvalidArgument);
}

}  // namespace
}  // namespace kolmo::monitor
