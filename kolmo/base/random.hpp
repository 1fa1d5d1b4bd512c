#pragma once
// Sequences of random numbers: element e depends only on seed, e and dtype, and has the same bits on every
// device. A Philox block gives four 32-bit values or two 64-bit values.
#include "kolmo/base/half.hpp"
#include "kolmo/base/normal.hpp"
#include "kolmo/base/pack.hpp"
#include "kolmo/base/philox.hpp"

namespace kolmo {

template <class T>
inline constexpr int values_per_block = sizeof(T) == 8 ? 2 : 4;

// clang-format off
template <class T> inline constexpr int significand_bits = 24;
template <> inline constexpr int significand_bits<double> = 53;
template <> inline constexpr int significand_bits<Half> = 11;
template <> inline constexpr int significand_bits<BFloat16> = 8;
// clang-format on

/// low + width u, where u is uniform on the multiples of 2^-significand_bits<T> in [0, 1).
template <class T>
struct UniformValue {
  Compute<T> low, width;

  KOLMO_HD T operator()(const Philox::Words& words, int j) const {
    Compute<T> u;
    if constexpr (sizeof(T) == 8)
      u = uniform53(words.w[2 * j], words.w[2 * j + 1]);
    else
      u = exact_mul(float(words.w[j] >> (32 - significand_bits<T>)), 1.0f / (1 << significand_bits<T>));
    return T(exact_add(low, exact_mul(width, u)));
  }
  KOLMO_HD void fill(const Philox::Words& words, T* values) const {
    for (int j = 0; j < values_per_block<T>; ++j) values[j] = (*this)(words, j);
  }
};

/// mean + deviation z with z standard normal: values 2p and 2p + 1 are the normal_pair of random words 2p and
/// 2p + 1.
template <class T>
struct NormalValue {
  Compute<T> mean, deviation;

  KOLMO_HD T operator()(const Philox::Words& words, int j) const {
    const auto p = pair(words, j / 2);
    return of(j % 2 ? p.second : p.first);
  }
  /// Computes all values of a block.
  KOLMO_HD void fill(const Philox::Words& words, T* values) const {
    for (int i = 0; i < values_per_block<T> / 2; ++i) {
      const auto p = pair(words, i);
      values[2 * i] = of(p.first), values[2 * i + 1] = of(p.second);
    }
  }

 private:
  KOLMO_HD static NormalPair<Compute<T>> pair(const Philox::Words& words, int i) {
    const auto& w = words.w;
    if constexpr (sizeof(T) == 8)
      return normal_pair(std::uint64_t(w[0]) << 32 | w[1], std::uint64_t(w[2]) << 32 | w[3]);
    else
      return normal_pair(w[2 * i], w[2 * i + 1]);
  }
  KOLMO_HD T of(Compute<T> z) const { return T(exact_add(mean, exact_mul(deviation, z))); }
};

/// Elements offset ... offset + n - 1 of a sequence, n > 0, written Philox block by Philox block.
template <class T, class Value>
struct RandomSequence {
  Philox philox;
  Value value;
  std::int64_t offset, n;
  T* values;

  static constexpr int per_block = values_per_block<T>;
  KOLMO_HD std::int64_t blocks() const { return (offset + n - 1) / per_block - offset / per_block + 1; }
  /// Writes the elements of the b-th block of the range. If `packed`, a block that lies wholly in the range
  /// is written by one store.
  KOLMO_HD void write(std::int64_t b, bool packed = false) const {
    const std::int64_t block = offset / per_block + b, first = block * per_block - offset;
    const Philox::Words words = philox(std::uint64_t(block), 0);
    Pack<T, per_block> pack;
    value.fill(words, pack.value);
    if (packed && first + per_block <= n) return store_pack(values + first, pack);
    for (int j = 0; j < per_block; ++j)
      if (const std::int64_t i = first + j; i >= 0 && i < n) values[i] = pack.value[j];
  }
  KOLMO_HD T element(std::int64_t i) const {
    const std::int64_t e = offset + i;
    return value(philox(std::uint64_t(e / per_block), 0), int(e % per_block));
  }
};

}  // namespace kolmo
