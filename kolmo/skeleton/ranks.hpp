#pragma once
#include "kolmo/base/arena.hpp"
#include "kolmo/base/hd.hpp"

namespace kolmo {

/// Numbers the chosen ones among n items in their order. `chosen` is a set of n bits, 64 in a word; above the
/// words stands a tree of counts, in which a node has 64 children. find_ranks() fills both, by steps that run
/// on any device.
struct Ranks {
  static constexpr int most_levels = 7;  // enough for 2^48 items
  std::int64_t n;
  std::uint64_t* chosen;
  std::int64_t* before[most_levels] = {};  ///< of each node: chosen items of its parent that precede it
  int levels = 0;

  Ranks(Arena& arena, std::int64_t items) : n(items), chosen(arena.take<std::uint64_t>(nodes(0))) {
    do before[levels] = arena.take<std::int64_t>(nodes(levels));
    while (nodes(levels++) > 1);
  }
  /// Number of nodes of a level. The nodes of level 0 are the words.
  KOLMO_HD std::int64_t nodes(int level) const {
    const int bits = 6 * (level + 1);
    return n < 1 ? 1 : ((n - 1) >> bits) + 1;
  }
  KOLMO_HD bool has(std::int64_t i) const { return chosen[i >> 6] >> (i & 63) & 1; }
  /// Number of chosen items before item i.
  KOLMO_HD std::int64_t operator()(std::int64_t i) const {
    std::int64_t rank = ones(chosen[i >> 6] & ((std::uint64_t(1) << (i & 63)) - 1));
    for (int l = 0; l < most_levels; ++l)
      if (l < levels) rank += before[l][i >> 6 * (l + 1)];
    return rank;
  }
  KOLMO_HD static int ones(std::uint64_t v) {
    v -= v >> 1 & 0x5555555555555555;
    v = (v & 0x3333333333333333) + (v >> 2 & 0x3333333333333333);
    return int(((v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
  }
};

/// Computes each word of the set, and the number of its ones.
template <class Chosen>
struct ChooseItems {
  Ranks ranks;
  Chosen is_chosen;
  std::int64_t items() const { return ranks.nodes(0); }
  KOLMO_HD void operator()(std::int64_t node) const {
    std::uint64_t word = 0;
    for (std::int64_t i = node * 64, b = 0; b < 64 && i + b < ranks.n; ++b)
      word |= std::uint64_t(bool(is_chosen(i + b))) << b;
    ranks.chosen[node] = word, ranks.before[0][node] = Ranks::ones(word);
  }
};

/// Replaces the count of each child of a node by the sum of those before it, and gives the node the sum of
/// all.
struct SumChildren {
  std::int64_t *child, *sum, children, nodes;
  std::int64_t items() const { return nodes; }
  KOLMO_HD void operator()(std::int64_t node) const {
    std::int64_t total = 0;
    for (std::int64_t i = node * 64; i < node * 64 + 64 && i < children; ++i) {
      const std::int64_t own = child[i];
      child[i] = total, total += own;
    }
    sum[node] = total;
  }
};

/// Chooses the items for which is_chosen(i) is true, and sets *total to their number. step(f) calls f(i) for
/// all items of f.
template <class Chosen, class Step>
void find_ranks(const Ranks& ranks, const Chosen& is_chosen, std::int64_t* total, const Step& step) {
  step(ChooseItems<Chosen>{ranks, is_chosen});
  for (int l = 0; l < ranks.levels; ++l) {
    const bool last = l + 1 == ranks.levels;
    step(SumChildren{ranks.before[l], last ? total : ranks.before[l + 1], ranks.nodes(l),
                     last ? 1 : ranks.nodes(l + 1)});
  }
}

}  // namespace kolmo
