#include "kolmo/monitor/http.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <list>
#include <thread>

#include "kolmo/base/error.hpp"

namespace kolmo::monitor {
namespace {

using Clock = std::chrono::steady_clock;
using Response = std::unique_ptr<MHD_Response, decltype(&MHD_destroy_response)>;

Response response(const std::string& body, const char* type) {
  Response r(
      MHD_create_response_from_buffer(body.size(), const_cast<char*>(body.data()), MHD_RESPMEM_MUST_COPY),
      MHD_destroy_response);
  if (!r) throw std::bad_alloc();
  for (const auto& [name, value] :
       {std::pair("Content-Type", type),
        {"Connection", "close"},
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Content-Security-Policy",
         "default-src 'none'; connect-src 'self'; img-src data:; script-src 'unsafe-inline'; style-src "
         "'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}})
    MHD_add_response_header(r.get(), name, value);
  return r;
}

/// Sockets that listen, + 1; 0 is a free place.
std::array<std::atomic<int>, 64> listeners{};

/// A child of fork() has no thread that would answer: it closes what listens, so that the port is free when this process ends.
/// For connections, which are shut down at their end, it does not matter who else has them open.
void close_in_children(int listening) {
  static const int once = ::pthread_atfork(nullptr, nullptr, [] {
    for (auto& place : listeners)
      if (const int socket = place.exchange(0)) ::close(socket - 1);
  });
  if (once != 0) throw std::bad_alloc();
  for (auto& place : listeners)
    if (int none = 0; place.compare_exchange_strong(none, listening + 1)) return;
}

/// Ends the listening also where another process has the socket open: a child of fork() that has not come to its handlers yet.
void end_listening(int listening) {
  ::shutdown(listening, SHUT_RDWR);
  for (auto& place : listeners)
    if (int known = listening + 1; place.compare_exchange_strong(known, 0)) return;
}

/// Whether a Host header names this machine: by an address, as localhost, or as the server was told.
bool names_this_machine(std::string host, const std::string& own) {
  if (const auto end = host.rfind(':'); end != std::string::npos && host.find(']', end) == std::string::npos)
    host = host.substr(0, end);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  in6_addr address;
  return host == own || host == "localhost" || ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

/// Whether a method is one of RFC 9110 or RFC 5789.
bool is_known(std::string_view method) {
  constexpr std::string_view known[] = {"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                        "CONNECT", "OPTIONS", "TRACE", "PATCH"};
  return std::find(std::begin(known), std::end(known), method) != std::end(known);
}

}  // namespace

struct HttpServer::State {
  struct Path {
    Resource resource;
    Response last{nullptr, MHD_destroy_response};
    Clock::time_point until;  // the body may be made again from then on
  };
  struct Connection {
    int socket;
    Clock::time_point since;
    bool cut = false;
  };

  std::map<std::string, Path> paths;
  std::string host;
  bool loopback;
  std::list<Connection> connections;  // the oldest first
  MHD_Daemon* daemon = nullptr;
  int listener = -1;
  Socket stop{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::thread thread;

  static void cut(Connection& c) {
    if (!std::exchange(c.cut, true)) ::shutdown(c.socket, SHUT_RDWR);
  }

  void came(MHD_Connection* connection, void** place) {
    const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    connections.push_back({info->connect_fd, Clock::now()});
    *place = &connections.back();
    const auto open = [](const Connection& c) { return !c.cut; };
    if (std::count_if(connections.begin(), connections.end(), open) > most_connections)
      cut(*std::find_if(connections.begin(), connections.end(), open));
  }

  void cut_old() {
    const auto before = Clock::now() - std::chrono::seconds(seconds_a_request);
    for (Connection& c : connections) {
      if (c.since > before) break;
      cut(c);
    }
  }

  static MHD_Result answer(MHD_Connection* c, unsigned status, const std::string& text) {
    const Response r = response(text + "\n", "text/plain; charset=utf-8");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) MHD_add_response_header(r.get(), "Allow", "GET, HEAD");
    return MHD_queue_response(c, status, r.get());
  }

  MHD_Result handle(MHD_Connection* c, std::string path, const std::string& method) {
    const char* named = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
    if (named && loopback && !names_this_machine(named, host))
      return answer(c, MHD_HTTP_MISDIRECTED_REQUEST, "This machine is not meant.");
    if (!is_known(method)) return answer(c, MHD_HTTP_NOT_IMPLEMENTED, "There is no such method.");
    auto found = paths.find(path);
    if (found == paths.end()) return answer(c, MHD_HTTP_NOT_FOUND, "There is nothing here.");
    if (method != "GET" && method != "HEAD")
      return answer(c, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD.");
    for (auto i = paths.lower_bound(path + "?"); i != paths.end() && i->first.starts_with(path + "?"); ++i) {
      const std::string name = i->first.substr(path.size() + 1);
      if (MHD_lookup_connection_value_n(c, MHD_GET_ARGUMENT_KIND, name.data(), name.size(), nullptr, nullptr))
        found = i;
    }
    return MHD_queue_response(c, MHD_HTTP_OK, current(found->second));
  }

  static MHD_Response* current(Path& p) {
    const auto begin = Clock::now();
    if (!p.last || begin >= p.until) {
      p.last = response(p.resource.make(), p.resource.type.c_str());
      const auto end = Clock::now();
      // Other work gets twenty times as much time as making bodies.
      constexpr int others = 20;
      p.until = end + std::min<Clock::duration>(others * (end - begin), std::chrono::seconds(1));
    }
    return p.last.get();
  }

  /// Those who wait to be accepted would be found again and again.
  bool out_of_descriptors() const {
    const int another = ::fcntl(stop.get(), F_DUPFD_CLOEXEC, 0);
    if (another >= 0) ::close(another);
    return another < 0;
  }

  void serve() {
    sigset_t pipe;
    ::sigemptyset(&pipe), ::sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    ::pthread_setname_np(::pthread_self(), "kolmo-metrics");
    pollfd ready[] = {{MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, POLLIN, 0},
                      {stop.get(), POLLIN, 0}};
    for (;;) {
      // Also without connections: after one that found no file descriptor the daemon listens again only when it runs.
      constexpr int half_a_second = 500, soon = 20;
      int wait = half_a_second;
      if (MHD_UNSIGNED_LONG_LONG most = 0; MHD_get_timeout(daemon, &most) == MHD_YES && most < half_a_second)
        wait = int(most);
      ::poll(ready, 2, wait);
      if (ready[1].revents) return;
      MHD_run(daemon);
      if (ready[0].revents && connections.empty()) ::poll(ready + 1, 1, out_of_descriptors() ? soon : 0);
      cut_old();
    }
  }

  static MHD_Result on_request(void* state, MHD_Connection* c, const char* path, const char* method,
                               const char* /*version*/, const char* /*upload*/, std::size_t* /*upload_size*/,
                               void** /*request*/) {
    try {
      return static_cast<State*>(state)->handle(c, path, method);
    } catch (const std::exception&) {
      return MHD_NO;  // there is no memory, so the connection is closed
    }
  }

  static void on_connection(void* state, MHD_Connection* c, void** place,
                            MHD_ConnectionNotificationCode what) {
    State& s = *static_cast<State*>(state);
    if (what == MHD_CONNECTION_NOTIFY_STARTED) return s.came(c, place);
    s.connections.remove_if([&](const Connection& known) { return &known == *place; });
  }
};

HttpServer::HttpServer(Socket listening, std::map<std::string, Resource> paths, const std::string& host,
                       bool loopback)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.host = host, s.loopback = loopback;
  for (auto& [path, resource] : paths) s.paths[path].resource = std::move(resource);
  constexpr unsigned spare = 32;  // room for connections that were cut and are not closed yet
  constexpr std::size_t memory = 8 << 10;
  s.daemon =
      MHD_start_daemon(MHD_USE_EPOLL, 0, nullptr, nullptr, State::on_request, &s, MHD_OPTION_LISTEN_SOCKET,
                       listening.get(), MHD_OPTION_CONNECTION_LIMIT, most_connections + spare,
                       MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_STRICT_FOR_CLIENT, 1,
                       MHD_OPTION_NOTIFY_CONNECTION, State::on_connection, &s, MHD_OPTION_END);
  if (!s.daemon || s.stop.get() < 0) fail<Error>("metrics: the server cannot be started");
  close_in_children(s.listener = listening.release());  // the daemon closes it here
  s.thread = std::thread([&s] { s.serve(); });
}

HttpServer::~HttpServer() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(state_->stop.get(), &one, sizeof one);
  state_->thread.join();
  end_listening(state_->listener);
  MHD_stop_daemon(state_->daemon);
}

}  // namespace kolmo::monitor
