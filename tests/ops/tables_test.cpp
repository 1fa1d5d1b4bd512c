// Entropies of tables have the bits of the CPU for every shape. On the GPU a warp sums several small tables at a time, small counts
// as integers and, with the tables beside them, others by another way; and large tables are summed in tiles.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kolmo/ops/info/joint_counts/joint_counts.hpp"
#include "kolmo/ops/info/shannon_entropy/shannon_entropy.hpp"

namespace kolmo {
namespace {

enum class Weights { small, wide, large, real };

/// Of some tables: counts below 8 or, wide, below 64, one of which may be 64 or more, or not an integer.
template <class T>
std::vector<T> weights(std::int64_t n, Weights kind) {
  std::vector<T> w(static_cast<std::size_t>(n));
  std::mt19937 random(7);
  for (T& x : w) x = T(random() % (kind == Weights::wide ? 64 : 8));
  w[0] = 1;
  if (kind == Weights::large) w[w.size() / 2] = 64;
  if (kind == Weights::real) w[w.size() / 2] = T(0.3);
  return w;
}

struct Results {
  std::vector<double> conditional, information, entropy;
  bool operator==(const Results&) const = default;
};

template <class T>
Results results(const std::vector<T>& weights, std::int64_t bx, std::int64_t by, Device device) {
  const std::int64_t tables = std::int64_t(weights.size()) / (bx * by);
  Results r{std::vector<double>(std::size_t(tables)), std::vector<double>(std::size_t(tables)),
            std::vector<double>(std::size_t(tables * bx))};
  auto* const data = const_cast<T*>(weights.data());
  const Tensor joint = tensor(data, {tables, bx, by}, device);
  Stream stream(device);
  stream.check_data(false);  // a table may be of zeros
  conditional_entropy({.joint = joint, .entropy = tensor(r.conditional.data(), {tables}, device)}, stream);
  mutual_information(
      {.joint = joint, .information = tensor(r.information.data(), {tables}, device), .miller_madow = true},
      stream);
  shannon_entropy({.weights = tensor(data, {tables * bx, by}, device),
                   .entropy = tensor(r.entropy.data(), {tables * bx}, device)},
                  stream);
  stream.synchronize();
  for (auto* list : {&r.conditional, &r.information, &r.entropy})
    for (double& x : *list) x = x == x ? x : -1;
  return r;
}

template <class T>
void expect_the_bits_of_the_cpu(std::int64_t tables, std::int64_t bx, std::int64_t by) {
  for (const Weights kind : {Weights::small, Weights::wide, Weights::large, Weights::real}) {
    const auto w = weights<T>(tables * bx * by, kind);
    ASSERT_EQ(results(w, bx, by, {DeviceKind::simt}), results(w, bx, by, {}))
        << tables << " tables of " << bx << " x " << by << ", " << sizeof(T) << " bytes, kind " << int(kind);
  }
}

TEST(SmallTables, HaveTheBitsOfTheCpu) {
  if (!available({DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  for (const std::int64_t bx : {1, 5, 16, 17, 32, 33})
    for (const std::int64_t by : {1, 2, 4, 6, 16, 20, 32, 36})
      for (const std::int64_t tables : {3, 35}) {
        expect_the_bits_of_the_cpu<double>(tables, bx, by);
        expect_the_bits_of_the_cpu<float>(tables, bx, by);
        expect_the_bits_of_the_cpu<std::int64_t>(tables, bx, by);
        expect_the_bits_of_the_cpu<std::int32_t>(tables, bx, by);
      }
}

TEST(SmallTables, SeveralByAWarp) {
  if (!available({DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  expect_the_bits_of_the_cpu<std::int32_t>(9001, 9, 12);
  expect_the_bits_of_the_cpu<double>(17003, 5, 6);
  expect_the_bits_of_the_cpu<std::int64_t>(34005, 1, 4);
  expect_the_bits_of_the_cpu<float>(140003, 2, 4);  // more than a warp finishes at once
  expect_the_bits_of_the_cpu<std::int32_t>(70001, 7, 8);
}

TEST(LargeTables, HaveTheBitsOfTheCpu) {
  if (!available({DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  const struct {
    std::int64_t tables, bx, by;
  } shapes[] = {{64, 16, 1024}, {33, 35, 1030}, {11, 70, 2049}, {1, 1100, 4100}, {2, 40, 40000}};
  for (const auto& [tables, bx, by] : shapes) {
    expect_the_bits_of_the_cpu<double>(tables, bx, by);
    expect_the_bits_of_the_cpu<float>(tables, bx, by);
    expect_the_bits_of_the_cpu<std::int64_t>(tables, bx, by);
    expect_the_bits_of_the_cpu<std::int32_t>(tables, bx, by);
  }
}

// What is left after the pass over tiles is added in one launch if it is not much.
TEST(FewLargeTables, HaveTheBitsOfTheCpu) {
  if (!available({DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  const struct {
    std::int64_t tables, bx, by;
  } shapes[] = {{1, 2048, 2048},  // two chunks of margins, of rows and of columns
                {1, 1027, 4099},  // rows and columns in one chunk
                {1, 8300, 1030},  // more groups of pieces of columns than warps of a block
                {1, 2050, 1030},  // a chunk of two margins of rows
                {2, 1025, 1030},  // and of seven of columns
                {3, 690, 3001},   // tables that begin within a chunk of another
                {1, 225, 16384},  // as many chunks of a row as there may be, and more of margins
                {8, 17, 16384},   // columns of one piece
                {70, 20, 1024}};  // a block for each table
  for (const auto& [tables, bx, by] : shapes) expect_the_bits_of_the_cpu<float>(tables, bx, by);
}

TEST(ALargeTable, OfManyPiecesHasTheBitsOfTheCpu) {
  if (!available({DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  const std::int64_t bx = 32 * 32 * 32 + 3, by = 1024;
  const auto w = weights<std::int32_t>(bx * by, Weights::small);
  ASSERT_EQ(results(w, bx, by, {DeviceKind::simt}), results(w, bx, by, {}));
}

TEST(ManyRows, OfFewChunksHaveTheBitsOfTheCpu) {
  if (!available({DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  for (const std::int64_t by : {2049, 5000})
    for (const std::int64_t bx : {511, 515})
      ASSERT_EQ(results(weights<float>(bx * by, Weights::large), bx, by, {DeviceKind::simt}),
                results(weights<float>(bx * by, Weights::large), bx, by, {}))
          << bx << " x " << by;
}

TEST(ALongRow, OfManyChunksHasTheBitsOfTheCpu) {
  if (!available({DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  const std::int64_t chunks = 5000;  // of which a block reads 16 lanes' worth at once
  const auto w = weights<float>(2048 * chunks, Weights::small);
  ASSERT_EQ(results(w, 1, 2048 * chunks, {DeviceKind::simt}), results(w, 1, 2048 * chunks, {}));
}

}  // namespace
}  // namespace kolmo
