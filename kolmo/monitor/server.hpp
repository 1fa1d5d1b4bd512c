#pragma once
#include <memory>
#include <string>

namespace kolmo::monitor {

/// Serves this process's metrics over HTTP for as long as it lives, on threads of its own:
///   /metrics            Prometheus text format 0.0.4
///   /api/v1/snapshot    JSON (snapshot.hpp); with ?curves=1 also the last five minutes
///   /                   a page with live charts, which needs nothing from elsewhere
/// `address`: "127.0.0.1:9750", "[::1]:9750", or a port alone, which means 127.0.0.1; port 0 takes a free
/// one. Whoever reaches the address can read everything and change nothing. Throws InvalidArgument for a
/// malformed address and Error where it cannot be listened on, for example because the port is taken.
/// The process ignores SIGPIPE from then on.
class Server {
 public:
  explicit Server(const std::string& address);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const std::string& url() const { return url_; }  ///< "http://127.0.0.1:9750/"
  bool loopback() const { return loopback_; }      ///< whether only this machine can reach it

 private:
  struct Http;
  std::unique_ptr<Http> http_;
  std::string url_;
  bool loopback_ = false;
};

/// What a Server somewhere answers at `path`; `url` as Server::url, or an address as it takes one. Throws
/// InvalidArgument for a malformed address and Error when there is no answer.
std::string fetch(const std::string& url, const std::string& path);

}  // namespace kolmo::monitor
