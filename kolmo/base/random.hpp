#pragma once
// Sequences of random numbers: element e of the sequence of a seed depends on seed, e and dtype alone, and
// has the same bits on every device. A Philox block gives four 32-bit values, or two of 64 bits.
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

/// low + width u, u uniform on the multiples in [0, 1) of 2^-significand_bits<T>.
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
};

/// mean + deviation z, z standard normal: the quantile of the middle of one of 2^32 (f64: 2^52) equal shares
/// of probability, which the bits after the first count from the centre. The first bit is the sign.
template <class T>
struct NormalValue {
  Compute<T> mean, deviation;

  KOLMO_HD T operator()(const Philox::Words& words, int j) const {
    using C = Compute<T>;
    constexpr int bits = sizeof(T) == 8 ? 52 : 32;
    constexpr std::uint64_t half = 1ull << (bits - 1);
    std::uint64_t random = words.w[j];
    if constexpr (sizeof(T) == 8)
      random = (std::uint64_t(words.w[2 * j]) << 32 | words.w[2 * j + 1]) >> (64 - bits);
    const std::uint64_t from_center = random & (half - 1), from_end = half - 1 - from_center;
    constexpr C share = C(0.5) / C(half);
    const C z = normal_quantile(exact_mul(exact_add(C(from_center), C(0.5)), share),
                                exact_mul(exact_add(C(from_end), C(0.5)), share));
    return T(exact_add(mean, exact_mul(deviation, random & half ? z : -z)));
  }
};

/// Elements offset ... offset + n - 1 of a sequence, n > 0, to be written block by block.
template <class T, class Value>
struct RandomSequence {
  Philox philox;
  Value value;
  std::int64_t offset, n;
  T* values;

  static constexpr int per_block = values_per_block<T>;
  KOLMO_HD std::int64_t blocks() const { return (offset + n - 1) / per_block - offset / per_block + 1; }
  /// Writes what the b-th of the blocks gives; with one store where `packed` and the block is whole.
  KOLMO_HD void write(std::int64_t b, bool packed = false) const {
    const std::int64_t block = offset / per_block + b, first = block * per_block - offset;
    const Philox::Words words = philox(std::uint64_t(block), 0);
    if (packed && first + per_block <= n) {
      Pack<T, per_block> pack;
      for (int j = 0; j < per_block; ++j) pack.value[j] = value(words, j);
      return store_pack(values + first, pack);
    }
    for (int j = 0; j < per_block; ++j)
      if (const std::int64_t i = first + j; i >= 0 && i < n) values[i] = value(words, j);
  }
  KOLMO_HD T element(std::int64_t i) const {
    const std::int64_t e = offset + i;
    return value(philox(std::uint64_t(e / per_block), 0), int(e % per_block));
  }
};

}  // namespace kolmo
