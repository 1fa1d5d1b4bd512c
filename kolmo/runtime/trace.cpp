#include "kolmo/runtime/trace.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "kolmo/runtime/device_times.hpp"
#include "kolmo/version.hpp"

namespace kolmo::trace {
namespace {

struct Window {
  std::mutex mutex;
  Recording recording;
  std::size_t capacity = 0;
  double begin = 0;  // on the steady clock
};
Window& window() {
  static auto& w = *new Window;
  return w;
}

template <class Clock>
double seconds() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

}  // namespace

bool active() { return monitor::state.modes.load(std::memory_order_relaxed) & monitor::tracing; }

void start(std::size_t capacity) {
  monitor::detail::harvest(~std::size_t(0));  // collects samples from before the window
  Window& w = window();
  {
    const std::scoped_lock lock(w.mutex);
    w.recording = {};
    w.recording.begin_unix = seconds<std::chrono::system_clock>();
    w.begin = seconds<std::chrono::steady_clock>();
    w.capacity = capacity;
  }
  monitor::set(monitor::tracing, true);
}

Recording stop() {
  monitor::set(monitor::tracing, false);
  monitor::detail::harvest(~std::size_t(0));
  Window& w = window();
  const std::scoped_lock lock(w.mutex);
  w.recording.seconds = seconds<std::chrono::steady_clock>() - w.begin;
  w.capacity = 0;
  auto& spans = w.recording.spans;
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  return std::exchange(w.recording, {});
}

void add(std::string_view name, std::string_view track, double begin, double seconds,
         std::string_view about) {
  Window& w = window();
  const std::scoped_lock lock(w.mutex);
  if (begin < w.begin) return;
  if (w.recording.spans.size() < w.capacity)
    w.recording.spans.push_back(
        {std::string(name), std::string(track), begin - w.begin, seconds, std::string(about)});
  else if (w.capacity)
    ++w.recording.dropped;
}

std::string this_thread() {
  static thread_local const std::string name = "thread " + std::to_string(gettid());
  return name;
}

std::string chrome_json(const Recording& recording) {
  using Json = nlohmann::ordered_json;
  std::map<std::string, int> tracks;
  for (const Span& s : recording.spans) tracks.try_emplace(s.track, 0);
  Json events = Json::array();
  const int pid = getpid();
  int number = 0;
  for (auto& [track, id] : tracks) {
    id = ++number;
    events.push_back(
        {{"ph", "M"}, {"name", "thread_name"}, {"pid", pid}, {"tid", id}, {"args", {{"name", track}}}});
  }
  for (const Span& s : recording.spans) {
    events.push_back({{"ph", "X"},
                      {"name", s.name},
                      {"pid", pid},
                      {"tid", tracks[s.track]},
                      {"ts", s.begin * 1e6},
                      {"dur", s.seconds * 1e6}});
    if (!s.about.empty()) events.back()["args"] = Json::parse(s.about);
  }
  const Json document = {{"displayTimeUnit", "ns"},
                         {"otherData",
                          {{"kolmo_version", version()},
                           {"begin_unix_seconds", recording.begin_unix},
                           {"window_seconds", recording.seconds},
                           {"dropped", recording.dropped}}},
                         {"traceEvents", std::move(events)}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kolmo::trace
