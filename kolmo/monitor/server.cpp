#include "kolmo/monitor/server.hpp"

#include <httplib.h>

#include <charconv>
#include <cstring>

#include "kolmo/base/error.hpp"
#include "kolmo/monitor/exposition.hpp"
#include "kolmo/monitor/watch.hpp"

namespace kolmo::assets {
extern const std::string_view monitor_html, monitor_css, monitor_js;
}

namespace kolmo::monitor {
namespace {

struct Address {
  std::string host;
  int port;
  std::string url() const {
    return "http://" + (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" +
           std::to_string(port) + "/";
  }
};

Address parse_address(const std::string& text) {
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

std::string page() {
  std::string html(assets::monitor_html);
  for (const auto& [mark, text] : {std::pair{"/*css*/", assets::monitor_css}, {"/*js*/", assets::monitor_js}})
    html.replace(html.find(mark), std::strlen(mark), text);
  return html;
}

}  // namespace

struct Server::Http {
  Watch watch;
  httplib::Server server;
  std::thread thread;
};

Server::Server(const std::string& address) {
  Address a = parse_address(address);
  http_ = std::make_unique<Http>();
  httplib::Server& s = http_->server;
  // The library's default shares a port with whoever else asks for it.
  s.set_socket_options([](int socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  constexpr int threads = 4;
  s.new_task_queue = [] { return new httplib::ThreadPool(threads); };
  s.set_tcp_nodelay(true);
  s.set_payload_max_length(0);
  s.set_default_headers({{"Cache-Control", "no-store"},
                         {"X-Content-Type-Options", "nosniff"},
                         {"Content-Security-Policy",
                          "default-src 'none'; connect-src 'self'; img-src data:; script-src "
                          "'unsafe-inline'; style-src 'unsafe-inline'"}});
  Watch& watch = http_->watch;
  s.Get("/", [](const auto&, auto& out) { out.set_content(page(), "text/html; charset=utf-8"); });
  s.Get("/metrics", [&](const auto&, auto& out) { out.set_content(watch.prometheus(), prometheus_type); });
  s.Get("/api/v1/snapshot", [&](const auto& in, auto& out) {
    out.set_content(watch.snapshot(in.has_param("curves")).dump() + "\n", "application/json");
  });
  errno = 0;
  if (a.port == 0)
    a.port = s.bind_to_any_port(a.host);
  else if (!s.bind_to_port(a.host, a.port))
    a.port = -1;
  if (a.port < 0) {
    const std::string why = errno ? std::strerror(errno) : "there is no such host";
    fail<Error>("metrics: cannot listen on " + address + ": " + why);
  }
  url_ = a.url();
  loopback_ = a.host.starts_with("127.") || a.host == "::1" || a.host == "localhost";
  http_->thread = std::thread([&s] { s.listen_after_bind(); });
  while (!s.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // else stop() is lost
}

Server::~Server() {
  http_->server.stop();
  http_->thread.join();
}

std::string fetch(const std::string& url, const std::string& path) {
  std::string text = url;
  if (text.starts_with("http://")) text = text.substr(7);
  if (const auto slash = text.find('/'); slash != std::string::npos) text = text.substr(0, slash);
  const Address a = parse_address(text);
  httplib::Client client(a.host, a.port);
  client.set_connection_timeout(3);
  client.set_read_timeout(5);
  const auto answer = client.Get(path);
  if (!answer)
    fail<Error>(a.url() + ": no answer (" + httplib::to_string(answer.error()) +
                "); is a process serving there, with --metrics " + text + "?");
  if (answer->status != 200)
    fail<Error>(a.url() + ": " + path + " answered with status " + std::to_string(answer->status));
  return answer->body;
}

}  // namespace kolmo::monitor
