#include "kolmo/base/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace kolmo {
namespace {

_Float16 native_half(std::uint16_t bits) {
  _Float16 h;
  std::memcpy(&h, &bits, sizeof h);
  return h;
}

TEST(Half, EveryValueBecomesTheFloatTheCompilerMakesOfIt) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    Half h;
    h.bits = std::uint16_t(bits);
    const float got = h, want = float(native_half(h.bits));
    ASSERT_EQ(std::isnan(got), std::isnan(want)) << bits;
    if (std::isnan(want)) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(got), (bits & 0x8000) << 16 | 0x7fc00000 | (bits & 0x3ff) << 13);
      continue;
    }
    ASSERT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(want)) << bits;
    ASSERT_EQ(Half(got).bits, h.bits) << "there and back";
  }
}

void expect_rounds_like_the_compiler(std::uint32_t bits) {
  const float f = std::bit_cast<float>(bits);
  const _Float16 native = static_cast<_Float16>(f);
  std::uint16_t want;
  std::memcpy(&want, &native, sizeof want);
  if (std::isnan(f)) {
    ASSERT_TRUE(std::isnan(float(Half(f)))) << std::hex << bits;
  } else {
    ASSERT_EQ(Half(f).bits, want) << std::hex << bits;
  }
}

TEST(Half, FloatsRoundToNearestEven) {
  // Each value and each midpoint to the next, with neighbours and both signs.
  for (unsigned h = 0; h < 0x7c00; ++h) {
    const std::uint32_t value = std::bit_cast<std::uint32_t>(float(native_half(std::uint16_t(h))));
    const float next = h == 0x7bff ? 65536.0f : float(native_half(std::uint16_t(h + 1)));
    const std::uint32_t middle = std::bit_cast<std::uint32_t>((std::bit_cast<float>(value) + next) / 2);
    for (const std::uint32_t at : {value, middle})
      for (const std::uint32_t sign : {0u, 0x80000000u})
        for (int d = -2; d <= 2; ++d)
          if (at || d >= 0) expect_rounds_like_the_compiler((at + std::uint32_t(d)) | sign);
  }
  for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 4099)
    expect_rounds_like_the_compiler(std::uint32_t(bits));
}

void expect_rounds_to_nearest(std::uint32_t wide) {
  const float f = std::bit_cast<float>(wide);
  const std::uint16_t got = BFloat16(f).bits;
  if (std::isnan(f)) {
    ASSERT_TRUE(std::isnan(float(BFloat16(f)))) << std::hex << wide;
    return;
  }
  // The two neighbours of |f|. Beyond the largest value the next step is taken as if exponents continued.
  const std::uint16_t below = std::uint16_t(wide >> 16), above = std::uint16_t(below + 1);
  const auto value = [](std::uint16_t b) {
    return (b & 0x7f80) == 0x7f80 ? 0x1p128 : std::abs(double(std::bit_cast<float>(std::uint32_t(b) << 16)));
  };
  const double magnitude = std::isinf(f) ? 0x1p128 : std::abs(double(f));
  const double down = magnitude - value(below), up = value(above) - magnitude;
  const std::uint16_t want = down < up || (down == up && !(below & 1)) || std::isinf(f) ? below : above;
  ASSERT_EQ(got, want) << std::hex << wide;
}

TEST(BFloat16, FloatsRoundToTheNearestWithTiesToEven) {
  for (std::uint32_t high = 0; high < 0x10000;
       ++high)  // each value, each midpoint, and the neighbours of both
    for (const std::uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      expect_rounds_to_nearest(high << 16 | low);
  for (std::uint64_t wide = 0; wide < 1ull << 32; wide += 4099) expect_rounds_to_nearest(std::uint32_t(wide));
}

TEST(BFloat16, EveryValueComesBack) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    BFloat16 b;
    b.bits = std::uint16_t(bits);
    if (std::isnan(float(b))) continue;
    ASSERT_EQ(BFloat16(float(b)).bits, b.bits);
  }
}

}  // namespace
}  // namespace kolmo
