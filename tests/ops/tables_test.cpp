// Entropies of tables have the bits of the CPU for every shape. On the GPU a block sums several small tables at a time.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kolmo/check/sanitized.hpp"
#include "kolmo/ops/info/joint_counts/joint_counts.hpp"
#include "kolmo/ops/info/shannon_entropy/shannon_entropy.hpp"

namespace kolmo {
namespace {

enum class Weights { small, large, real };

/// Weights of some tables: counts below 8, but one that may be 64, whose logarithm is not looked up, or no integer.
template <class T>
std::vector<T> weights(std::int64_t n, Weights kind) {
  std::vector<T> w(static_cast<std::size_t>(n));
  std::mt19937 random(7);
  for (T& x : w) x = T(random() % 8);
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
  for (const Weights kind : {Weights::small, Weights::large, Weights::real}) {
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
        if (check::sanitized && tables == 3) continue;  // the kernels of 35
        expect_the_bits_of_the_cpu<double>(tables, bx, by);
        expect_the_bits_of_the_cpu<float>(tables, bx, by);
        expect_the_bits_of_the_cpu<std::int64_t>(tables, bx, by);
        expect_the_bits_of_the_cpu<std::int32_t>(tables, bx, by);
      }
}

TEST(SmallTables, OfManyBlocksHaveTheBitsOfTheCpu) {
  if (!available({DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  expect_the_bits_of_the_cpu<std::int32_t>(9001, 9, 12);
  expect_the_bits_of_the_cpu<double>(17003, 5, 6);
  expect_the_bits_of_the_cpu<std::int64_t>(34005, 1, 4);
}

TEST(LargeTables, HaveTheBitsOfTheCpu) {
  if (!available({DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  const struct {
    std::int64_t tables, bx, by;
  } shapes[] = {{5, 35, 1030}, {3, 70, 2049}, {1, 1100, 9}, {2, 9, 40000}};
  for (const auto& [tables, bx, by] : shapes) {
    expect_the_bits_of_the_cpu<double>(tables, bx, by);
    expect_the_bits_of_the_cpu<float>(tables, bx, by);
    expect_the_bits_of_the_cpu<std::int64_t>(tables, bx, by);
    expect_the_bits_of_the_cpu<std::int32_t>(tables, bx, by);
  }
}

TEST(ALargeTable, OfManyPiecesHasTheBitsOfTheCpu) {
  if (!available({DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  const std::int64_t bx = 32 * 32 * 32 + 3, by = 5;
  const auto w = weights<std::int32_t>(bx * by, Weights::small);
  ASSERT_EQ(results(w, bx, by, {DeviceKind::simt}), results(w, bx, by, {}));
}

TEST(ALongRow, OfManyChunksHasTheBitsOfTheCpu) {
  if (!available({DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  const std::int64_t chunks =
      check::sanitized ? 1500 : 5000;  // of which a block reads 16 lanes' worth at once
  const auto w = weights<float>(2048 * chunks, Weights::small);
  ASSERT_EQ(results(w, 1, 2048 * chunks, {DeviceKind::simt}), results(w, 1, 2048 * chunks, {}));
}

}  // namespace
}  // namespace kolmo
