#pragma once
#include <cstdint>
#include <vector>

namespace kolmo::memory {

/// A block's life, by the numbers of the events that begin and end it.
struct Life {
  std::uint64_t bytes;
  std::size_t begin, end;
};

/// Bytes of the smallest address range found that holds every block at a fixed place for its whole life,
/// every size rounded up to 256 bytes: an upper bound of what is needed with the lives known beforehand. The
/// better of two heuristics: best fit in the order of events, and, up to 4096 blocks, the largest block first
/// at the lowest place that is free for its whole life (Pisarchyk & Lee 2020, "greedy by size").
std::uint64_t packed_bytes(const std::vector<Life>& lives);

/// The most bytes live at once, sizes rounded up likewise: a lower bound of every packing.
std::uint64_t peak_bytes(const std::vector<Life>& lives);

}  // namespace kolmo::memory
