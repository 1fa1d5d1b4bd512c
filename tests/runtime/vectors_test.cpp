#include "kolmo/runtime/cpu/vectors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kolmo/base/half.hpp"
#include "kolmo/runtime/cpu/convert.hpp"

namespace kolmo {
namespace {

template <class T>
T value(std::size_t i) {
  return T(std::sin(double(i) * 0.7)) * T(i % 13 == 0 ? 1e-20 : 3);
}

/// Checks a x + y, which would have other bits if it were fused, for n elements that begin `offset` elements
/// into a line.
template <class T>
void check(std::int64_t n, std::size_t offset) {
  constexpr T untouched = T(-7);
  alignas(64) T x[400], y[400], z[400];
  for (std::size_t i = 0; i < 400; ++i) x[i] = value<T>(i), y[i] = value<T>(i + 1000), z[i] = untouched;
  const T a = T(1) / T(3);
  const auto step = [a, from = x + offset, to = y + offset, out = z + offset](std::int64_t i) {
    out[i] = a * from[i] + to[i];
  };
  in_vectors(z + offset, n, step);
  for (std::size_t i = 0; i < 400; ++i) {
    volatile T product = a * x[i];
    const bool inside = i >= offset && i < offset + std::size_t(n);
    ASSERT_EQ(z[i], inside ? T(product + y[i]) : untouched) << i << " of " << n << " from " << offset;
  }
}

TEST(Vectors, EveryNumberOfElementsAndPlaceInALine) {
  for (std::int64_t n = 0; n < 150; ++n)
    for (const std::size_t offset : {0, 1, 3, 7, 15, 16}) check<float>(n, offset), check<double>(n, offset);
}

TEST(Vectors, EveryInstructionSetOfThisProcessorGivesTheSameBits) {
#if defined(__x86_64__) && !defined(__AVX512BW__)
  std::vector<double> x(1001), plain(1001), other(1001);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = value<double>(i);
  const auto into = [&](std::vector<double>& y) {
    return [&, n = std::int64_t(x.size()), from = x.data(), to = y.data()] {
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i)
        to[i] = std::sqrt(from[i] * from[i] + 0.1) / (from[i] - 0.3) * from[i];
    };
  };
  into(plain)();
  if (detail::has_avx2()) {
    detail::by_avx2(into(other));
    EXPECT_EQ(plain, other);
  }
  if (detail::has_avx512()) {
    other.assign(other.size(), 0);
    detail::by_avx512(into(other));
    EXPECT_EQ(plain, other);
  }
#else
  GTEST_SKIP() << "compiled for one instruction set";
#endif
}

template <class T>
void check_conversion() {
  std::vector<T> all(1 << 16), back(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i].bits = std::uint16_t(i);
  std::vector<float> wide(all.size());
  widen(all.data(), std::int64_t(all.size()), wide.data());
  narrow(wide.data(), std::int64_t(wide.size()), back.data());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const float one = float(all[i]);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[i]), std::bit_cast<std::uint32_t>(one)) << i;
    ASSERT_EQ(back[i].bits, T(one).bits) << i;
  }
}

TEST(Vectors, EverySixteenBitNumberIsConvertedAsOneByOne) {
  check_conversion<Half>();
  check_conversion<BFloat16>();
}

}  // namespace
}  // namespace kolmo
