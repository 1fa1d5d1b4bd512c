#pragma once
#include <memory>
#include <string>

namespace kolmo::monitor {

/// Serves this process's metrics over HTTP as long as it lives, on its own threads. They cost the process little,
/// whatever those who ask do (http.hpp):
///   /metrics            Prometheus text format 0.0.4
///   /api/v1/snapshot    JSON (snapshot.hpp); with ?curves=1 also the last five minutes
///   /                   a page with live charts, without external resources
/// `address`: "127.0.0.1:9750", "[::1]:9750", or a port alone, which means 127.0.0.1; port 0 selects a free
/// port. Anyone who can reach the address can read everything and change nothing. Throws InvalidArgument for
/// a malformed address and Error if it cannot be bound, for example because the port is taken. What is read
/// may be as old as twenty times what it takes to collect it, a second at most. A child of fork() serves nothing and does not
/// keep the port.
class Server {
 public:
  explicit Server(const std::string& address);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const std::string& url() const { return url_; }  ///< "http://127.0.0.1:9750/"
  bool loopback() const { return loopback_; }      ///< whether it is reachable from this machine only

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  std::string url_;
  bool loopback_ = false;
};

/// Fetches the response of a Server for `path`. `url` is that of Server::url, or an address as in its
/// constructor. Throws InvalidArgument for a malformed address, and Error if there is no response within 15 s
/// or if it has over 64 MiB.
std::string fetch(const std::string& url, const std::string& path);

}  // namespace kolmo::monitor
