#include "kolmo/runtime/memory/trace.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kolmo/base/error.hpp"
#include "kolmo/base/whole.hpp"

namespace kolmo::memory {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* format = "kolmo memory trace";
constexpr int version = 1;
constexpr const char* columns[] = {"nanoseconds", "action", "pool",   "address", "requested",
                                   "granted",     "source", "stream", "tag",     "thread"};
constexpr std::size_t column_count = std::size(columns);

TraceEvent event(const Json& row, const Trace& trace) {
  const auto number = [&](std::size_t i) { return whole<std::uint64_t>(row.at(i)); };
  const auto below = [&](std::size_t i, std::size_t end) {
    if (number(i) >= end) throw std::out_of_range(columns[i]);
    return number(i);
  };
  TraceEvent e;
  e.nanoseconds = number(0), e.address = number(3), e.requested = number(4), e.granted = number(5);
  e.action = Action(below(1, std::size_t(Action::fail) + 1));
  e.pool = std::uint8_t(below(2, trace.pools.size()));
  e.source = MemorySource(below(6, memory_sources));
  if (e.requested > e.granted) throw std::out_of_range(columns[4]);
  e.stream = std::uint16_t(below(7, 1 << 16));
  e.tag = std::uint16_t(below(8, trace.tags.size()));
  e.thread = std::uint16_t(below(9, 1 << 16));
  return e;
}

TracePool pool(const Json& j) {
  TracePool p;
  PoolStats& s = p.stats;
  const Json& stats = j.at("stats");
  s.name = stats.at("name");
  const auto get = [&](const char* key, std::uint64_t& value) {
    value = whole<std::uint64_t>(stats.at(key));
  };
  get("allocations", s.allocations), get("live", s.live), get("live_bytes", s.live_bytes);
  get("peak_bytes", s.peak_bytes), get("granted_bytes", s.granted_bytes);
  get("reserved_bytes", s.reserved_bytes), get("reserved_peak_bytes", s.reserved_peak);
  get("chunks", s.chunks), get("largest_free_bytes", s.largest_free);
  get("retries", s.retries), get("failures", s.failures);
  s.limit_bytes = stats.at("limit_bytes").is_null() ? ~0ull : whole<std::uint64_t>(stats.at("limit_bytes"));
  s.satisfiability = stats.at("satisfiability");
  for (int i = 0; i < memory_sources; ++i)
    s.from[i] = whole<std::uint64_t>(stats.at("from").at(memory_source_names[i]));
  for (const Json& c : j.at("chunks")) {
    TraceChunk chunk{whole<std::uint64_t>(c.at("address")), whole<std::uint64_t>(c.at("bytes")), {}};
    for (const Json& b : c.at("blocks")) {
      const auto offset = whole<std::uint64_t>(b.at(0)), bytes = whole<std::uint64_t>(b.at(1));
      if (offset > chunk.bytes || bytes > chunk.bytes - offset) throw std::out_of_range("a block of a chunk");
      chunk.blocks.push_back({chunk.address + offset, bytes, whole<int>(b.at(2)) != 0});
    }
    p.chunks.push_back(std::move(chunk));
  }
  return p;
}

}  // namespace

Json to_json(const PoolStats& s) {
  Json from;
  for (int i = 0; i < memory_sources; ++i) from[memory_source_names[i]] = s.from[i];
  return {{"name", s.name},
          {"allocations", s.allocations},
          {"live", s.live},
          {"live_bytes", s.live_bytes},
          {"peak_bytes", s.peak_bytes},
          {"granted_bytes", s.granted_bytes},
          {"reserved_bytes", s.reserved_bytes},
          {"reserved_peak_bytes", s.reserved_peak},
          {"limit_bytes", s.limit_bytes == ~0ull ? Json() : Json(s.limit_bytes)},
          {"from", std::move(from)},
          {"chunks", s.chunks},
          {"largest_free_bytes", s.largest_free},
          {"retries", s.retries},
          {"failures", s.failures},
          {"internal_fragmentation", s.internal_fragmentation()},
          {"external_fragmentation", s.external_fragmentation()},
          {"idle_ratio", s.idle_ratio()},
          {"satisfiability", s.satisfiability}};
}

Json to_json(const Trace& trace) {
  Json pools = Json::array(), events = Json::array();
  for (const TracePool& p : trace.pools) {
    Json chunks = Json::array();
    for (const TraceChunk& c : p.chunks) {
      Json blocks = Json::array();
      for (const TraceBlock& b : c.blocks) blocks.push_back({b.address - c.address, b.bytes, int(b.used)});
      chunks.push_back({{"address", c.address}, {"bytes", c.bytes}, {"blocks", std::move(blocks)}});
    }
    pools.push_back({{"stats", to_json(p.stats)}, {"chunks", std::move(chunks)}});
  }
  for (const TraceEvent& e : trace.events)
    events.push_back({e.nanoseconds, int(e.action), e.pool, e.address, e.requested, e.granted, int(e.source),
                      e.stream, e.tag, e.thread});
  return {{"format", format},
          {"version", version},
          {"began", trace.began},
          {"seconds", trace.seconds},
          {"lost", trace.lost},
          {"tags", trace.tags},
          {"pools", std::move(pools)},
          {"columns", columns},
          {"actions", {"allocate", "free", "reserve", "release", "retry", "fail"}},
          {"sources", memory_source_names},
          {"events", std::move(events)}};
}

Trace read_trace(const Json& j, const std::string& file) {
  try {
    if (!j.is_object() || j.value("format", "") != format)
      fail<InvalidArgument>(file + ": is not a memory trace (record one with --memory-trace FILE)");
    if (j.at("version") != version)
      fail<InvalidArgument>(file + ": is a memory trace of version " + j.at("version").dump() +
                            "; this Kolmo reads version " + std::to_string(version));
    Trace trace;
    trace.began = j.at("began"), trace.seconds = j.at("seconds");
    trace.lost = whole<std::uint64_t>(j.at("lost"));
    trace.tags = j.at("tags").get<std::vector<std::string>>();
    for (const Json& p : j.at("pools")) trace.pools.push_back(pool(p));
    if (j.at("columns") != Json(columns)) throw std::out_of_range("columns");
    for (const Json& row : j.at("events")) {
      if (row.size() != column_count) throw std::out_of_range("a row of events");
      trace.events.push_back(event(row, trace));
    }
    return trace;
  } catch (const Json::exception& e) {
    fail<InvalidArgument>(file + ": is not a whole memory trace: " + e.what());
  } catch (const std::out_of_range& e) {
    fail<InvalidArgument>(file + ": is not a valid memory trace: " + e.what() + " is out of range");
  }
}

}  // namespace kolmo::memory
