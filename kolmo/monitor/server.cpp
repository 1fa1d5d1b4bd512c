#include "kolmo/monitor/server.hpp"

#include <unistd.h>

#include <cstring>

#include "kolmo/base/error.hpp"
#include "kolmo/monitor/exposition.hpp"
#include "kolmo/monitor/http.hpp"
#include "kolmo/monitor/watch.hpp"

namespace kolmo::assets {
extern const std::string_view monitor_html, monitor_css, monitor_js;
}

namespace kolmo::monitor {
namespace {

std::string page() {
  std::string html(assets::monitor_html);
  for (const auto& [mark, text] : {std::pair{"/*css*/", assets::monitor_css}, {"/*js*/", assets::monitor_js}})
    html.replace(html.find(mark), std::strlen(mark), text);
  return html;
}

}  // namespace

struct Server::Parts {
  pid_t process = ::getpid();
  Watch watch;
  std::unique_ptr<HttpServer> http;  // the last member, since it uses the watch
};

Server::Server(const std::string& address) : parts_(std::make_unique<Parts>()) {
  Address a = Address::parse(address);
  Watch& watch = parts_->watch;
  const auto snapshot = [&watch](bool curves) {
    return Resource{"application/json", [&watch, curves] { return watch.snapshot(curves).dump() + "\n"; }};
  };
  Socket listening = [&] {
    try {
      return listen_at(a, loopback_);
    } catch (const Error& e) {
      fail<Error>("metrics: cannot listen on " + address + ": " + e.what());
    }
  }();
  parts_->http = std::make_unique<HttpServer>(
      std::move(listening),
      std::map<std::string, Resource>{
          {"/", {"text/html; charset=utf-8", page}},
          {"/metrics", {prometheus_type, [&watch] { return watch.prometheus(); }}},
          {"/api/v1/snapshot", snapshot(false)},
          {"/api/v1/snapshot?curves", snapshot(true)}},
      a.host, loopback_);
  url_ = a.url();
}

Server::~Server() {
  // A child of fork() has none of the threads: nothing there can be joined or destroyed.
  if (parts_ && parts_->process != ::getpid()) static_cast<void>(parts_.release());
}

}  // namespace kolmo::monitor
