#include "kolmo/base/philox.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kolmo {
namespace {

struct Known {
  std::uint64_t low, high, seed;
  std::uint32_t want[4];
};

// The known answers for philox4x32-10 from the file kat_vectors of Random123, the code of the paper's
// authors.
constexpr Known known[] = {
    {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {~0ull, ~0ull, ~0ull, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {0x85a308d3243f6a88,
     0x0370734413198a2e,
     0x299f31d0a4093822,
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

TEST(Philox, GivesTheKnownAnswers) {
  for (const Known& k : known) {
    const Philox::Words words = Philox(k.seed)(k.low, k.high);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(words.w[i], k.want[i]) << i;
  }
  static_assert(Philox(0)(0, 0).w[0] == 0x6627e8d5, "at compile time too");
}

TEST(Philox, UniformsFillTheHalfOpenInterval) {
  EXPECT_EQ(uniform53(0, 0), 0);
  EXPECT_EQ(uniform53(~0u, ~0u), 1 - 0x1p-53);
  EXPECT_EQ(uniform53(0x80000000u, 0), 0.5);
  EXPECT_EQ(uniform53(0, 1u << 11), 0x1p-53);
}

TEST(Philox, UniformsHaveTheMeanAndVarianceOfUniforms) {
  constexpr int n = 100000;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const Philox::Words words = Philox(7)(std::uint64_t(i), 0);
    const double u = uniform53(words.w[0], words.w[1]) - 0.5;
    sum += u, squares += u * u;
  }
  EXPECT_LT(std::abs(sum / n), 5 * std::sqrt(1.0 / 12 / n));
  EXPECT_LT(std::abs(squares / n - 1.0 / 12), 5 * std::sqrt(1.0 / 180 / n));
}

}  // namespace
}  // namespace kolmo
