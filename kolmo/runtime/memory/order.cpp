#include "kolmo/runtime/memory/order.hpp"

#include <algorithm>

#include "kolmo/base/error.hpp"

namespace kolmo::memory {

void merge(Stamps& into, const Stamps& from) {
  for (const Stamp& s : from) {
    const auto same =
        std::find_if(into.begin(), into.end(), [&](const Stamp& i) { return i.stream == s.stream; });
    if (same == into.end())
      into.push_back(s);
    else
      same->ticket = std::max(same->ticket, s.ticket);
  }
}

Order::~Order() {
  for (const Stream& s : streams_) upstream_.destroy_event(s.event);
}

std::uint32_t Order::enter(Upstream::Handle stream) {
  const auto unused = std::find_if(streams_.begin(), streams_.end(), [&](Stream& s) {
    return !s.alive && (s.done >= s.recorded || upstream_.done(s.event));
  });
  if (unused == streams_.end()) {
    streams_.push_back({.handle = stream, .event = upstream_.make_event(false)});
    return std::uint32_t(streams_.size() - 1);
  }
  unused->done = unused->recorded;  // tickets continue, so that stamps of the former stream stay done
  unused->handle = stream, unused->alive = unused->open = true, unused->seen.clear();
  return std::uint32_t(unused - streams_.begin());
}

void Order::leave(std::uint32_t id) noexcept {
  Stream& s = streams_[id];
  try {
    publish(s);
  } catch (const Error&) {  // the device is lost, so nothing runs any more
    s.done = s.recorded = s.given;
  }
  s.alive = false;
}

void Order::close(std::uint32_t id) {
  publish(streams_[id]);
  streams_[id].open = false;
}

Stamp Order::stamp(std::uint32_t id) {
  Stream& s = streams_[id];
  if (s.open && s.alive) s.given = s.recorded + 1;
  return {id, s.given};
}

void Order::publish(Stream& s) {
  if (s.given <= s.recorded || !s.alive) return;
  upstream_.record(s.event, s.handle);
  s.recorded = s.given;
}

std::uint64_t Order::seen(std::uint32_t id, std::uint32_t other) const {
  const auto& all = streams_[id].seen;
  return other < all.size() ? all[other] : 0;
}

bool Order::done(const Stamp& stamp) {
  Stream& s = streams_[stamp.stream];
  if (s.done >= stamp.ticket) return true;
  if (s.recorded < stamp.ticket || !upstream_.done(s.event)) return false;
  s.done = s.recorded;
  return true;
}

bool Order::ready(std::uint32_t id, const Stamps& stamps) {
  return std::all_of(stamps.begin(), stamps.end(), [&](const Stamp& s) {
    return s.stream == id || seen(id, s.stream) >= s.ticket || done(s);
  });
}

bool Order::wait(std::uint32_t id, const Stamps& stamps) {
  bool waited = false;
  for (const Stamp& stamp : stamps) {
    if (stamp.stream == id || seen(id, stamp.stream) >= stamp.ticket || done(stamp)) continue;
    Stream& other = streams_[stamp.stream];
    publish(other);
    upstream_.wait(streams_[id].handle, other.event);
    auto& all = streams_[id].seen;
    all.resize(std::max(all.size(), std::size_t(stamp.stream) + 1));
    all[stamp.stream] = other.recorded;
    waited = true;
  }
  return waited;
}

void Order::finish(const Stamps& stamps) {
  for (const Stamp& stamp : stamps) {
    if (done(stamp)) continue;
    Stream& s = streams_[stamp.stream];
    publish(s);
    upstream_.synchronize_event(s.event);
    s.done = s.recorded;
  }
}

bool Order::finished(const Stamps& stamps) {
  return std::all_of(stamps.begin(), stamps.end(), [&](const Stamp& s) { return done(s); });
}

}  // namespace kolmo::memory
