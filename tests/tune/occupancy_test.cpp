#include "kolmo/tune/occupancy.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <random>

namespace kolmo::tune {
namespace {

constexpr std::size_t KiB = 1024;

struct Example {
  const char* capability;
  Resources launch;
  int blocks;
  double ratio;
  std::vector<std::string_view> limits;
};

// These were computed by hand from the formulas of docs/occupancy.md.
const Example examples[] = {
    {"9.0", {256, 128, 8448}, 2, 0.25, {"registers"}},
    {"8.9", {256, 128, 8448}, 2, 16.0 / 48, {"registers"}},
    {"9.0", {256, 48, 8448}, 5, 0.625, {"registers"}},
    {"12.0", {256, 48, 8448}, 5, 40.0 / 48, {"registers"}},
    {"9.0", {128, 40, 1 * KiB}, 12, 0.75, {"registers"}},
    {"8.9", {128, 40, 1 * KiB}, 12, 1, {"warps", "registers"}},
    {"9.0", {1024, 32}, 2, 1, {"warps", "registers"}},
    {"8.9", {1024, 32}, 1, 32.0 / 48, {"warps"}},
    {"9.0", {32, 24}, 32, 0.5, {"blocks"}},
    {"8.9", {32, 24}, 24, 0.5, {"blocks"}},
    {"8.6", {32, 24}, 16, 16.0 / 48, {"blocks"}},
    {"9.0", {384, 168, 96 * KiB}, 1, 12.0 / 64, {"registers"}},
    {"8.0", {384, 168, 96 * KiB}, 1, 12.0 / 64, {"registers", "shared memory"}},
    {"9.0", {128, 32, 0, 8}, 8, 0.5, {"barriers"}},
    {"8.0", {128, 32, 0, 8}, 16, 1, {"warps", "registers"}},
    {"9.0", {1024, 65}, 0, 0, {"registers"}},
    {"9.0", {256, 32, 228 * KiB}, 0, 0, {"shared memory"}},
    {"9.0", {1025, 8}, 0, 0, {"warps"}},
    {"9.0", {64, 0}, 32, 1, {"warps", "blocks"}},
};

TEST(Occupancy, HandExamples) {
  for (const Example& e : examples) {
    const Occupancy o = occupancy(multiprocessor(e.capability), e.launch);
    const std::string what = std::string(e.capability) + ", " + std::to_string(e.launch.threads) +
                             " threads, " + std::to_string(e.launch.registers) + " registers";
    EXPECT_EQ(o.blocks, e.blocks) << what;
    EXPECT_DOUBLE_EQ(o.ratio, e.ratio) << what;
    EXPECT_EQ(o.limits(), e.limits) << what;
    EXPECT_EQ(o.warps, o.blocks * ((e.launch.threads + 31) / 32)) << what;
  }
}

TEST(Occupancy, SaysWhatOneMoreBlockCosts) {
  const Multiprocessor& hopper = multiprocessor("9.0");
  const Savings registers = occupancy(hopper, {256, 48, 8448}).one_more_block;
  EXPECT_TRUE(registers.possible);
  EXPECT_EQ(registers.registers, 8);  // 40 registers: 6 blocks
  EXPECT_EQ(registers.shared, 0u);
  const Savings shared = occupancy(hopper, {128, 32, 100 * KiB}).one_more_block;
  EXPECT_TRUE(shared.possible);
  EXPECT_EQ(shared.registers, 0);
  EXPECT_EQ(shared.shared, 25 * KiB);  // 3 x (75 + 1) KiB = 228 KiB
  const Savings both = occupancy(multiprocessor("8.0"), {384, 168, 96 * KiB}).one_more_block;
  EXPECT_TRUE(both.possible);
  EXPECT_EQ(both.registers, 88);                                        // 24 warps of 80 registers
  EXPECT_EQ(both.shared, 15 * KiB);                                     // 2 x (81 + 1) KiB = 164 KiB
  EXPECT_FALSE(occupancy(hopper, {1024, 32}).one_more_block.possible);  // all warps are resident
  EXPECT_EQ(occupancy(hopper, {128, 32, 0, 8}).one_more_block.barriers, 1);
}

TEST(Occupancy, SavingsBuyExactlyOneBlock) {
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return std::size_t(random() % n); };
  int bought = 0;
  for (int i = 0; i < 20000; ++i) {
    const Multiprocessor& on = multiprocessors()[below(multiprocessors().size())];
    const Resources r{1 + int(below(1024)), int(below(256)), below(on.shared_per_block + 1), int(below(17))};
    const Occupancy before = occupancy(on, r);
    const Savings s = before.one_more_block;
    if (!s.possible) continue;
    ++bought;
    const Resources less{r.threads, r.registers - s.registers, r.shared - s.shared, r.barriers - s.barriers};
    EXPECT_GT(occupancy(on, less).blocks, before.blocks);
    const auto without = [&](Resources step) { return occupancy(on, step).blocks; };
    if (s.registers) {
      Resources more = less;
      EXPECT_EQ((++more.registers, without(more)), before.blocks);
    }
    if (s.shared) {
      Resources more = less;
      EXPECT_EQ((++more.shared, without(more)), before.blocks);
    }
  }
  EXPECT_GT(bought, 5000);
}

TEST(Occupancy, SharedMemoryForAGivenNumberOfBlocks) {
  for (const Multiprocessor& on : multiprocessors())
    for (int blocks = 1; blocks <= 32; ++blocks) {
      const std::size_t bytes = shared_for(on, blocks);
      ASSERT_GT(bytes, 0u);
      EXPECT_GE(occupancy(on, {32, 8, bytes}).blocks_by[std::size_t(Limit::shared)], blocks);
      EXPECT_LT(occupancy(on, {32, 8, bytes + 1}).blocks_by[std::size_t(Limit::shared)], blocks);
    }
  EXPECT_EQ(shared_for(multiprocessor("9.0"), 0), 0u);
  EXPECT_EQ(shared_for(multiprocessor("8.6"), 101), 0u);
}

TEST(Occupancy, SuggestsTheBlockSizeOfTheOccupancyApi) {
  const Multiprocessor& hopper = multiprocessor("9.0");
  EXPECT_EQ(suggested_threads(hopper, {.registers = 32}), 1024);
  EXPECT_EQ(suggested_threads(hopper, {.registers = 64}), 1024);
  EXPECT_EQ(suggested_threads(hopper, {.registers = 96}), 640);      // at most 20 warps, 5 per quarter
  EXPECT_EQ(suggested_threads(hopper, {.registers = 32}, 100), 64);  // 32 x 64 is more than 21 x 96
  EXPECT_EQ(suggested_threads(hopper, {.registers = 32, .shared = 300 * KiB}), 0);
}

TEST(Occupancy, WavesAndTail) {
  const Occupancy o = occupancy(multiprocessor("9.0"), {256, 32});  // 8 blocks
  const Waves full = waves(8 * 132, o, 132), tail = waves(8 * 132 + 1, o, 132), none = waves(0, o, 132);
  EXPECT_DOUBLE_EQ(full.waves, 1);
  EXPECT_DOUBLE_EQ(full.efficiency, 1);
  EXPECT_DOUBLE_EQ(tail.efficiency, 1057.0 / 2112);
  EXPECT_EQ(none.waves, 0);
  EXPECT_EQ(waves(10, occupancy(multiprocessor("9.0"), {1024, 255}), 132).waves, 0);
}

TEST(Occupancy, RefusesNonsense) {
  const Multiprocessor& hopper = multiprocessor("9.0");
  EXPECT_THROW(occupancy(hopper, {0, 8}), InvalidArgument);
  EXPECT_THROW(occupancy(hopper, {32, -1}), InvalidArgument);
  EXPECT_THROW(occupancy(hopper, {32, 8, 0, -1}), InvalidArgument);
  EXPECT_THROW(occupancy(hopper, {32, 8, std::size_t(-1)}), InvalidArgument);
  EXPECT_THROW(occupancy(hopper, {32, 8, 0, 0, 101}), InvalidArgument);
  EXPECT_THROW(multiprocessor("7.5"), InvalidArgument);
}

}  // namespace
}  // namespace kolmo::tune
