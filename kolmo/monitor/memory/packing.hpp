#pragma once
#include <cstdint>
#include <vector>

namespace kolmo::memory {

/// A block's lifetime, as the numbers of the events that begin and end it.
struct Life {
  std::uint64_t bytes;
  std::size_t begin, end;
};

/// The size in bytes of the smallest address range found in which every block keeps a fixed place for its
/// whole lifetime, with every size rounded up to 256 bytes. This is an upper bound of the memory needed if
/// lifetimes are known in advance. Takes the better of two heuristics: best fit in the order of events, and,
/// for up to 4096 blocks, the largest block first at the lowest place that is free for its whole lifetime
/// (Pisarchyk & Lee 2020, "greedy by size").
std::uint64_t packed_bytes(const std::vector<Life>& lives);

/// The largest number of bytes live at once, with sizes rounded up in the same way. It is a lower bound for
/// every packing.
std::uint64_t peak_bytes(const std::vector<Life>& lives);

}  // namespace kolmo::memory
