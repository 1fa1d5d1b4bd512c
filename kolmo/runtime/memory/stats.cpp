#include "kolmo/runtime/memory/stats.hpp"

#include <cmath>
#include <map>

#include "kolmo/base/number_text.hpp"
#include "kolmo/runtime/memory/front.hpp"
#include "kolmo/runtime/memory/pool.hpp"

namespace kolmo {

std::string bytes_text(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) bytes /= 1024, ++unit;
  return significant_text(bytes, unit ? 3 : 15) + ' ' + units[unit];
}

namespace memory {

PoolStats Pool::stats() const {
  const std::scoped_lock lock(fronts_mutex_);
  PoolStats s = gone_;
  s.name = options_.name;
  std::vector<std::uint64_t> recent;
  for (const auto& front : fronts_) {
    const std::scoped_lock one(front->mutex);
    s.allocations += front->allocations;
    for (int i = 0; i < memory_sources; ++i) s.from[i] += front->from[i];
    s.live += front->live, s.live_bytes += front->live_bytes, s.granted_bytes += front->granted_bytes;
    s.reserved_bytes += front->direct_bytes;
    for (int i = 0; i < class_count; ++i)
      if (const Run* run = front->runs[std::size_t(i)])
        s.largest_free = std::max<std::uint64_t>(s.largest_free, run->block_bytes);
    recent.insert(
        recent.end(), front->recent.begin(),
        front->recent.begin() + long(std::min<std::uint64_t>(front->allocations, front->recent.size())));
  }
  s.peak_bytes = std::max(peak_bytes_.load(), s.live_bytes);
  s.retries = retries_, s.failures = failures_, s.limit_bytes = limit_;
  const std::scoped_lock chunks(chunks_mutex_);
  s.reserved_bytes += heap_.reserved(), s.reserved_peak = reserved_peak_, s.chunks = heap_.chunks().size();
  s.largest_free = std::max<std::uint64_t>(s.largest_free, heap_.largest_free());
  const auto fit = std::count_if(recent.begin(), recent.end(),
                                 [&](std::uint64_t bytes) { return class_bytes(bytes) <= s.largest_free; });
  if (!recent.empty()) s.satisfiability = double(fit) / double(recent.size());
  return s;
}

TracePool Pool::snapshot() const {
  TracePool result{stats(), {}};
  const std::scoped_lock lock(fronts_mutex_);
  std::vector<std::unique_lock<std::mutex>> locks;
  // Only runs with a free block; in all other runs every block is in use.
  std::map<const Span*, const Run*> runs;
  for (const auto& front : fronts_) {
    locks.emplace_back(front->mutex);
    for (const Run* run : front->runs)
      for (; run; run = run->next) runs.emplace(run->span, run);
  }
  const std::scoped_lock chunks(chunks_mutex_);
  const auto number = [](const void* p) { return std::uint64_t(reinterpret_cast<std::uintptr_t>(p)); };
  for (const Chunk* c : heap_.chunks()) {
    TraceChunk chunk{number(c->data), c->bytes, {}};
    for (const Span* s = c->first; s; s = s->next) {
      const auto at = runs.find(s);
      if (at == runs.end()) {
        chunk.blocks.push_back({number(s->data), s->bytes, !s->free});
        continue;
      }
      const Run& run = *at->second;
      for (std::size_t i = 0; i < std::size_t(run.blocks); ++i)
        chunk.blocks.push_back(
            {number(s->data) + i * run.block_bytes, run.block_bytes, !(run.free[i / 64] >> i % 64 & 1)});
    }
    result.chunks.push_back(std::move(chunk));
  }
  return result;
}

std::string Pool::state() const {
  const PoolStats s = stats();
  const auto percent = [](double share) { return std::to_string(std::llround(100 * share)) + " %"; };
  std::string text = bytes_text(double(s.live_bytes)) + " live in " + std::to_string(s.live) +
                     " buffers (peak " + bytes_text(double(s.peak_bytes)) + "), " +
                     bytes_text(double(s.reserved_bytes)) + " reserved in " + std::to_string(s.chunks) +
                     " chunks, largest free block " + bytes_text(double(s.largest_free)) +
                     ", fragmentation " + percent(s.external_fragmentation()) + " external, " +
                     percent(s.internal_fragmentation()) + " internal";
  if (s.limit_bytes != ~0ull) text += ", limit " + bytes_text(double(s.limit_bytes));
  return text;
}

}  // namespace memory
}  // namespace kolmo
