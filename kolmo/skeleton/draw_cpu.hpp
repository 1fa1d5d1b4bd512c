#pragma once
#include <algorithm>
#include <cstdint>

#include "kolmo/op/impl.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"
#include "kolmo/skeleton/draw.hpp"

namespace kolmo::cpu {

/// The words of N blocks from `first` on: the rounds of Philox for N counters side by side, which compilers turn into
/// vectors.
template <int N>
void random_words(const Philox& philox, std::uint64_t first, Philox::Words (&words)[N]) {
  std::uint32_t a[N], b[N], c[N] = {}, d[N] = {};
  for (int i = 0; i < N; ++i)
    a[i] = std::uint32_t(first + std::uint64_t(i)), b[i] = std::uint32_t((first + std::uint64_t(i)) >> 32);
  std::uint32_t k0 = philox.key[0], k1 = philox.key[1];
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u)
    for (int i = 0; i < N; ++i) {
      const std::uint64_t p0 = std::uint64_t(0xD2511F53u) * a[i], p1 = std::uint64_t(0xCD9E8D57u) * c[i];
      a[i] = std::uint32_t(p1 >> 32) ^ b[i] ^ k0, b[i] = std::uint32_t(p1);
      c[i] = std::uint32_t(p0 >> 32) ^ d[i] ^ k1, d[i] = std::uint32_t(p0);
    }
  for (int i = 0; i < N; ++i) words[i] = {{a[i], b[i], c[i], d[i]}};
}

/// Writes blocks [block, end) of the range.
template <class T, class Value>
void write_blocks(const RandomSequence<T, Value>& s, std::int64_t block, std::int64_t end) {
  constexpr int together = 8, each = RandomSequence<T, Value>::per_block;
  while (block < end) {
    const std::int64_t number = s.offset / each + block, first = number * each - s.offset;
    if (first < 0 || first + together * each > s.n || block + together > end) {
      s.write(block++);
      continue;
    }
    Philox::Words words[together];
    random_words(s.philox, std::uint64_t(number), words);
    for (int k = 0; k < together; ++k) {
      T values[each];
      s.value.fill(words[k], values);
      std::copy_n(values, each, s.values + first + k * each);
    }
    block += together;
  }
}

/// Writes the sequence, on all threads of the stream.
template <class D>
constexpr Impl<typename D::A> draw() {
  using A = typename D::A;
  return ImplCode<A>{.launch = [](const A& a, Arena, Stream& s, int) {
    D::visit_sequence(a, [&](const auto& sequence) {
      parallel_ranges(
          s.threads(), sequence.blocks(),
          [&](std::int64_t block, std::int64_t end) { write_blocks(sequence, block, end); }, 1 << 12);
    });
  }};
}

}  // namespace kolmo::cpu
