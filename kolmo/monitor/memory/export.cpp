#include "kolmo/monitor/memory/export.hpp"

#include <fmt/format.h>

#include <iterator>
#include <unordered_map>

namespace kolmo::memory {
namespace {

/// Writes Python's pickle format, protocol 2, for dicts, lists, strings and integers.
class Pickle {
 public:
  void dict(auto&& fill) { marked('}', 'u', fill); }
  void list(auto&& fill) { marked(']', 'e', fill); }
  void text(std::string_view s) {
    bytes_ += 'X';
    little_endian(s.size(), 4);
    bytes_ += s;
  }
  void number(std::uint64_t n) {
    bytes_ += "\x8a\x09";  // LONG1 of nine bytes, so that the sign bit is clear
    little_endian(n, 8);
    bytes_ += '\0';
  }
  void entry(std::string_view key, std::string_view value) { text(key), text(value); }
  void entry(std::string_view key, std::uint64_t value) { text(key), number(value); }
  std::string done() && { return "\x80\x02" + std::move(bytes_) + '.'; }

 private:
  void marked(char empty, char close, auto&& fill) {
    bytes_ += empty;
    bytes_ += '(';
    fill();
    bytes_ += close;
  }
  void little_endian(std::uint64_t n, int count) {
    for (int i = 0; i < count; ++i) bytes_ += char(n >> 8 * i & 255);
  }
  std::string bytes_;
};

void frames(Pickle& p, const std::string* tag) {
  p.text("frames");
  p.list([&] {
    if (tag && !tag->empty())
      p.dict([&] { p.entry("filename", "kolmo"), p.entry("line", 0), p.entry("name", *tag); });
  });
}

using Live = std::unordered_map<std::uint64_t, const TraceEvent*>;

void segment(Pickle& p, const TraceChunk& chunk, const Live& live, const Trace& trace) {
  std::uint64_t used = 0, requested = 0;
  for (const TraceBlock& b : chunk.blocks) {
    const auto at = live.find(b.address);
    used += b.used ? b.bytes : 0;
    requested += b.used ? (at == live.end() ? b.bytes : at->second->requested) : 0;
  }
  p.dict([&] {
    p.entry("device", 0), p.entry("address", chunk.address), p.entry("total_size", chunk.bytes);
    p.entry("allocated_size", used), p.entry("active_size", used), p.entry("requested_size", requested);
    p.entry("stream", 0), p.entry("segment_type", "large");
    frames(p, nullptr);
    p.text("blocks");
    p.list([&] {
      for (const TraceBlock& b : chunk.blocks)
        p.dict([&] {
          const auto at = b.used ? live.find(b.address) : live.end();
          const bool known = at != live.end();
          p.entry("address", b.address), p.entry("size", b.bytes);
          p.entry("requested_size", known ? at->second->requested : b.used ? b.bytes : 0);
          p.entry("state", b.used ? "active_allocated" : "inactive");
          frames(p, known ? &trace.tags[at->second->tag] : nullptr);
        });
    });
  });
}

void entry(Pickle& p, const char* action, const TraceEvent& e, const Trace& trace) {
  p.dict([&] {
    p.entry("action", action), p.entry("addr", e.address), p.entry("size", e.granted);
    p.entry("stream", e.stream), p.entry("time_us", e.nanoseconds / 1000);
    if (e.action == Action::fail) p.entry("device_free", 0);
    frames(p, &trace.tags[e.tag]);
  });
}

}  // namespace

std::string rmm_csv(const Trace& trace, std::size_t pool) {
  std::string out = "Thread,Time,Action,Pointer,Size,Stream\n";
  for (const TraceEvent& e : trace.events) {
    if (e.pool != pool) continue;
    const char* action = e.action == Action::allocate ? "allocate"
                         : e.action == Action::free   ? "free"
                         : e.action == Action::fail   ? "allocate failure"
                                                      : nullptr;
    if (!action) continue;
    const std::uint64_t us = e.nanoseconds / 1000, s = us / 1'000'000;
    fmt::format_to(std::back_inserter(out), "{},{:02}:{:02}:{:02}:{:06},{},{:#x},{},{}\n", e.thread, s / 3600,
                   s / 60 % 60, s % 60, us % 1'000'000, action, e.address, e.requested, e.stream);
  }
  return out;
}

std::string pytorch_snapshot(const Trace& trace, std::size_t pool) {
  Live live;
  for (const TraceEvent& e : trace.events) {
    if (e.pool != pool) continue;
    if (e.action == Action::allocate) live[e.address] = &e;
    if (e.action == Action::free) live.erase(e.address);
  }
  Pickle p;
  p.dict([&] {
    p.text("segments");
    p.list([&] {
      for (const TraceChunk& c : trace.pools[pool].chunks) segment(p, c, live, trace);
    });
    p.text("device_traces");
    p.list([&] {
      p.list([&] {
        for (const TraceEvent& e : trace.events) {
          if (e.pool != pool) continue;
          switch (e.action) {
            case Action::allocate:
              entry(p, "alloc", e, trace);
              break;
            case Action::free:
              entry(p, "free_requested", e, trace);
              entry(p, "free_completed", e, trace);
              break;
            case Action::reserve:
              entry(p, "segment_alloc", e, trace);
              break;
            case Action::release:
              entry(p, "segment_free", e, trace);
              break;
            case Action::fail:
              entry(p, "oom", e, trace);
              break;
            case Action::retry:
              break;
          }
        }
      });
    });
  });
  return std::move(p).done();
}

}  // namespace kolmo::memory
