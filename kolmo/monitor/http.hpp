#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "kolmo/monitor/address.hpp"

namespace kolmo::monitor {

/// What is served at a path.
struct Resource {
  std::string type;
  std::function<std::string()> make;
};

/// A server of a few resources. Nobody who asks can make others wait:
/// - One thread serves all connections. A body is kept and sent to all who ask, for twenty times as long as it took to
///   make, but at most a second. So making bodies takes little of the thread's time, however many ask.
/// - A connection serves one request and is cut after `seconds_a_request`, wherever it is. If there are more than
///   `most_connections`, the oldest is cut, so there is always room for the next one.
/// - A request's head has at most 8 kB; only GET and HEAD are answered; ranges are ignored.
/// - The destructor cuts what is open.
/// A server that only this machine can reach answers to names of this machine alone. A page of another site, opened in
/// a browser here, cannot use such names (DNS rebinding).
class HttpServer {
 public:
  static constexpr int most_connections = 128, seconds_a_request = 10;

  /// `paths`: the resources by path. A path that ends with "?NAME" is taken if the query has this name.
  HttpServer(Socket listening, std::map<std::string, Resource> paths, const std::string& host, bool loopback);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kolmo::monitor
