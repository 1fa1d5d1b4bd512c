#pragma once
// Terms of plain sums over rows, for sum_rows of base/sums.hpp.
#include <bit>
#include <cstdint>
#include <type_traits>

#include "kolmo/base/convert.hpp"
#include "kolmo/base/pack.hpp"
#include "kolmo/base/sums.hpp"

namespace kolmo {

/// Reads 16-bit floats without a conversion, which would be slow in a kernel: the 16 bits, moved to the top
/// of a double, are a double that is the number times 1 / unit. This is exact for finite numbers; infinities
/// and NaN become finite and must be found by special().
template <class T>
struct BitsOfDouble {
  // A double's exponent is longer by this many bits.
  static constexpr int shift = std::is_same_v<T, Half> ? 6 : 3;
  static constexpr double unit = std::is_same_v<T, Half> ? 0x1p1008 : 0x1p896;
  /// Widens the 16-bit float in the upper half of a word to a double times 1 / unit.
  KOLMO_HD static double of(std::uint32_t word) {
    const std::uint32_t upper =
        std::uint32_t(std::int32_t(word) >> shift) & (0x80000000 | 0x7fff0000u >> shift);
    return std::bit_cast<double>(std::uint64_t(upper) << 32);
  }
  /// Returns a number other than 0 if `before` is not 0, or if one of the two elements in `pair` is infinite
  /// or NaN.
  KOLMO_HD static std::uint32_t special(std::uint32_t pair, std::uint32_t before) {
#ifdef __CUDA_ARCH__
    if constexpr (std::is_same_v<T, Half>)  // 0 times an infinity or a NaN is NaN
      asm("fma.rn.f16x2 %0, %1, %2, %0;" : "+r"(before) : "r"(pair), "r"(0u));
    else
      asm("fma.rn.bf16x2 %0, %1, %2, %0;" : "+r"(before) : "r"(pair), "r"(0u));
    return before;
#else
    constexpr std::uint32_t infinity = std::is_same_v<T, Half> ? 0x7c00 : 0x7f80;
    return before | std::uint32_t((pair & infinity) == infinity || (pair >> 16 & infinity) == infinity);
#endif
  }
};

/// The terms of each row are its k elements.
template <class T>
struct ValueRows {
  const T* x;
  std::int64_t k;

  struct Row {
    const T* x;
    KOLMO_HD Sums<1> operator()(std::int64_t i) const { return {{double(x[i])}}; }
    template <int W>
    KOLMO_HD void load(std::int64_t i, Sums<1> (&terms)[W]) const {
      const auto p = widened(load_pack<W>(x + i));
      for (int w = 0; w < W; ++w) terms[w] = {{double(p.value[w])}};
    }
    using Bits = BitsOfDouble<T>;
    /// Loads W terms, each times 1 / Bits::unit. `special` becomes other than 0 if one of them is not finite.
    template <int W>
    KOLMO_HD void load_bits(std::int64_t i, Sums<1> (&terms)[W], std::uint32_t& special) const
        requires(W % 2 == 0 && (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)) {
      const auto pairs = std::bit_cast<Pack<std::uint32_t, W / 2>>(load_pack<W>(x + i));
      for (int p = 0; p < W / 2; ++p) {
        terms[2 * p] = {{Bits::of(pairs.value[p] << 16)}};
        terms[2 * p + 1] = {{Bits::of(pairs.value[p])}};
        special = Bits::special(pairs.value[p], special);
      }
    }
  };
  KOLMO_HD Row operator()(std::int64_t row) const { return {x + row * k}; }
};

/// The product of two elements of T in double. Products of f16 are computed in float, where they are exact.
template <class T>
KOLMO_HD double product(Compute<T> x, Compute<T> y) {
  if constexpr (std::is_same_v<T, Half>)
    return double(exact_mul(x, y));
  else
    return exact_mul(double(x), double(y));
}

/// The terms of each row are the products of the elements of two tensors, in double.
template <class T>
struct ProductRows {
  const T *x, *y;
  std::int64_t k;

  struct Row {
    static constexpr int arrays = 2;
    const T *x, *y;
    KOLMO_HD Sums<1> operator()(std::int64_t i) const {
      return {{product<T>(Compute<T>(x[i]), Compute<T>(y[i]))}};
    }
    template <int W>
    KOLMO_HD void load(std::int64_t i, Sums<1> (&terms)[W]) const {
      const auto p = widened(load_pack<W>(x + i)), q = widened(load_pack<W>(y + i));
      for (int w = 0; w < W; ++w) terms[w] = {{product<T>(p.value[w], q.value[w])}};
    }
  };
  KOLMO_HD Row operator()(std::int64_t row) const { return {x + row * k, y + row * k}; }
};

/// Stores the sum of a row, rounded to T once.
template <class T>
struct RoundedSum {
  T* sum;
  KOLMO_HD void operator()(std::int64_t row, const Sums<1>& s) const { sum[row] = T(one_nan(s.value[0])); }
};

}  // namespace kolmo
