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

/// A server of a few resources, for which nobody who asks can make anybody else wait:
/// - One thread serves all connections. A body is kept, and answers those who ask, for twenty times as long as it took
///   to make, but at most a second; so making bodies takes little of the thread's time however many ask.
/// - A connection serves one request and is cut after `seconds_a_request`, wherever it is. Of more than
///   `most_connections`, the oldest is cut; so there is always room for the next one.
/// - A request's head has at most 8 kB; only GET and HEAD are answered; ranges are not looked at.
/// - The destructor cuts what is open.
/// A server that only this machine can reach answers to names of this machine alone, which a page of another site
/// in a browser here cannot use (DNS rebinding).
class HttpServer {
 public:
  static constexpr int most_connections = 128, seconds_a_request = 10;

  /// `paths`: by path; with "?NAME" at the end, the resource when the query has this name.
  HttpServer(Socket listening, std::map<std::string, Resource> paths, const std::string& host, bool loopback);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kolmo::monitor
