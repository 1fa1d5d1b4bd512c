#include "kolmo/runtime/device_times.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>

#include "kolmo/runtime/trace.hpp"

namespace kolmo::monitor::detail {
namespace {

using Key = std::pair<DeviceKind, int>;
Key key(Device d) { return {d.kind, d.index}; }

/// The same moment on a device's clock and on the clock of the host.
struct Origin {
  std::unique_ptr<Event> event;
  double host = 0;
};

struct Pairs {
  std::mutex mutex;
  std::deque<std::unique_ptr<TimedLaunch>> waiting;
  std::map<Key, std::vector<std::unique_ptr<Event>>> unused;
  std::map<Key, Origin> origins;
  std::map<void*, int> streams;
};
Pairs& pairs() {
  static auto& all = *new Pairs;  // never destroyed: at exit the driver may unload first
  return all;
}

std::unique_ptr<Event> take_event(Device device) {
  Pairs& p = pairs();
  {
    const std::scoped_lock lock(p.mutex);
    auto& unused = p.unused[key(device)];
    if (!unused.empty()) {
      auto event = std::move(unused.back());
      unused.pop_back();
      return event;
    }
  }
  return std::make_unique<Event>(device);
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Relates the device's clock to the host's, for which the first traced launch of a device waits for the
/// device.
void prepare_track(TimedLaunch& s) {
  const Device device = s.kernel->device;
  Pairs& p = pairs();
  const std::scoped_lock lock(p.mutex);
  const int number = p.streams.try_emplace(s.stream->native(), int(p.streams.size()) + 1).first->second;
  s.track = to_string(device) + " stream " + std::to_string(number);
  Origin& o = p.origins[key(device)];
  if (o.event) return;
  auto event = std::make_unique<Event>(device);
  s.stream->synchronize();
  event->record(*s.stream);
  event->synchronize();
  o.host = steady_seconds();
  o.event = std::move(event);
}

/// Reads a pair's time; false if the device has not reached it yet. The mutex must be held.
bool settle(TimedLaunch& s) {
  constexpr double acceptable = 0.05;
  if (!s.stop->done()) return false;
  Pairs& p = pairs();
  const double seconds = std::max(0.0, Event::seconds(*s.start, *s.stop) - s.kernel->event_cost);
  if (s.late && s.host_seconds > acceptable * seconds)
    drop(Drop::idle);
  else
    account(s, seconds);
  if (!s.track.empty()) {
    const Origin& o = p.origins[key(s.kernel->device)];
    trace::add(s.kernel->name, s.track, o.host + Event::seconds(*o.event, *s.start), seconds, s.work.about);
  }
  auto& unused = p.unused[key(s.kernel->device)];
  unused.push_back(std::move(s.start));
  unused.push_back(std::move(s.stop));
  return true;
}

}  // namespace

void drop(Drop reason) noexcept {
  static const auto make = [](const char* name) {
    return &metrics::counter("kolmo_monitor_samples_dropped_total", {{"reason", name}},
                             "Launches that were to be timed and were not");
  };
  static metrics::Counter* const counters[] = {make("idle"), make("ring_full"), make("over_budget"),
                                               make("error")};
  counters[int(reason)]->add();
}

void start(TimedLaunch& s) noexcept {
  try {
    if (trace::active()) prepare_track(s);
    s.start = take_event(s.kernel->device);
    s.start->record(*s.stream);
  } catch (const std::exception&) {
    s.start.reset();
    drop(Drop::error);
  }
}

void stop(std::unique_ptr<TimedLaunch> s) noexcept {
  constexpr std::size_t ring = 64;
  if (!s->start) return;
  try {
    s->stop = take_event(s->kernel->device);
    s->stop->record(*s->stream);
    s->late = s->start->done();
    Pairs& p = pairs();
    const std::scoped_lock lock(p.mutex);
    if (p.waiting.size() >= ring && s->track.empty()) return drop(Drop::ring_full);
    p.waiting.push_back(std::move(s));
  } catch (const std::exception&) {
    drop(Drop::error);
  }
}

void harvest(std::size_t most) noexcept {
  Pairs& p = pairs();
  const std::scoped_lock lock(p.mutex);
  for (std::size_t left = std::min(most, p.waiting.size()); left; --left) {
    auto s = std::move(p.waiting.front());
    p.waiting.pop_front();
    try {
      if (!settle(*s)) p.waiting.push_back(std::move(s));
    } catch (const std::exception&) {
      drop(Drop::error);
    }
  }
}

}  // namespace kolmo::monitor::detail
