#include "kolmo/knn/surrogate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace kolmo {
namespace {

std::vector<std::uint32_t> rows(const SurrogateMap& map, std::uint32_t n) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < n; ++i) all.push_back(map(i));
  return all;
}

TEST(SurrogateMap, IsABijectionOfEveryKind) {
  for (const auto type :
       {SurrogateType::permute, SurrogateType::circular, SurrogateType::block, SurrogateType::trials})
    for (const std::uint32_t n : {2u, 10u, 17u, 100u})
      for (const std::int64_t length : {1, 3, 7, 20})
        for (std::uint64_t s = 0; s < 20; ++s) {
          auto all = rows(SurrogateMap({type, length, length, 1}, n, 2, s), n);
          std::sort(all.begin(), all.end());
          for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(all[i], i);
        }
}

TEST(SurrogateMap, OfTheObservedDataChangesNothing) {
  for (const auto type :
       {SurrogateType::permute, SurrogateType::circular, SurrogateType::block, SurrogateType::trials}) {
    const auto all = rows(SurrogateMap({type, 10, 3, 5}, 103, 6, 0), 103);
    for (std::uint32_t i = 0; i < 103; ++i) EXPECT_EQ(all[i], i);
  }
}

TEST(SurrogateMap, ShiftsByEveryDistanceOnce) {
  for (const std::int64_t least : {1, 4, 10, 1000}) {
    const std::int64_t n = 21, count = different_shifts(n, least);
    EXPECT_EQ(count, std::max<std::int64_t>(2, n - 2 * least + 1)) << least;  // 10 and 11 are always allowed
    std::set<std::uint32_t> shifts;
    for (std::int64_t s = 1; s <= count; ++s) {
      const auto all = rows(SurrogateMap({SurrogateType::circular, 0, least, 5}, n, 6, std::uint64_t(s)), 21);
      for (std::uint32_t i = 0; i < 21; ++i) EXPECT_EQ(all[i], (all[0] + i) % 21);
      EXPECT_GE(all[0], std::min<std::uint32_t>(std::uint32_t(least), 10));
      EXPECT_LE(all[0], 21 - std::min<std::uint32_t>(std::uint32_t(least), 10));
      shifts.insert(all[0]);
    }
    EXPECT_EQ(std::int64_t(shifts.size()), count);
    const SurrogateMap first({SurrogateType::circular, 0, least, 5}, n, 6, 1);
    const SurrogateMap again({SurrogateType::circular, 0, least, 5}, n, 6, std::uint64_t(count) + 1);
    EXPECT_EQ(first(0), again(0));  // then they repeat
  }
}

// Uses eleven blocks of a rotated sequence: rows follow each other except at the ends of blocks, and at row
// 103.
TEST(SurrogateMap, KeepsBlocksWholeWhereverTheyBegin) {
  std::set<std::uint32_t> starts;
  for (std::uint64_t s = 1; s <= 50; ++s) {
    const auto all = rows(SurrogateMap({SurrogateType::block, 10, 1, 5}, 103, 6, s), 103);
    int breaks = 0;
    for (std::uint32_t i = 1; i < 103; ++i)
      if (all[i] != (all[i - 1] + 1) % 103) ++breaks, starts.insert(all[i]);
    EXPECT_LE(breaks, 10);
  }
  EXPECT_GT(starts.size(), 80u);
}

TEST(SurrogateMap, GivesTrialsToTrials) {
  std::set<std::uint32_t> orders;
  for (std::uint64_t s = 1; s <= 60; ++s) {
    const auto all = rows(SurrogateMap({SurrogateType::trials, 5, 1, 7}, 15, 8, s), 15);
    for (std::uint32_t i = 0; i < 15; ++i) EXPECT_EQ(all[i], all[i / 5 * 5] + i % 5);
    for (const std::uint32_t trial : {0u, 1u, 2u}) EXPECT_EQ(all[trial * 5] % 5, 0u);
    orders.insert(all[0] * 100 + all[5]);
  }
  EXPECT_EQ(orders.size(), 6u);  // 3!
}

}  // namespace
}  // namespace kolmo
