#include "kolmo/ops/dense/matmul/matmul.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/op/registry.hpp"

namespace kolmo {
namespace {

constexpr std::int64_t m = 300, n = 170, k = 90;

/// Integers from -2 to 2, whose products sum exactly in every dtype.
int left(std::int64_t row, std::int64_t l) { return int((row * 7 + l * 3) % 5) - 2; }
int right(std::int64_t l, std::int64_t column) { return int((l * 2 + column * 11 + l * column) % 5) - 2; }

std::vector<int> product() {
  std::vector<int> y(m * n);
  for (std::int64_t i = 0; i < m * n; ++i)
    for (std::int64_t l = 0; l < k; ++l) y[std::size_t(i)] += left(i / n, l) * right(l, i % n);
  return y;
}

/// Memory for `count` elements, from the `shift`-th on.
struct Shifted {
  std::vector<std::byte> memory;
  void* data;
  Shifted(DType t, std::int64_t count, std::int64_t shift)
      : memory(std::size_t(count + shift) * size_of(t)),
        data(memory.data() + std::size_t(shift) * size_of(t)) {}
};

/// A product with every element in its place, as `turn_a`, `turn_b` say.
struct Product {
  Shifted a, b, y;
  MatmulArgs args;

  Product(DType t, Device device, bool turn_a, bool turn_b, std::int64_t shift = 0)
      : a(t, m * k, shift), b(t, k * n, shift), y(t, m * n, shift) {
    const std::vector<std::int64_t> shape_a{turn_a ? k : m, turn_a ? m : k},
        shape_b{turn_b ? n : k, turn_b ? k : n};
    args = {.a = tensor(a.data, t, shape_a),
            .b = tensor(b.data, t, shape_b),
            .y = tensor(y.data, t, std::vector{m, n}),
            .transpose_a = turn_a,
            .transpose_b = turn_b};
    for (std::int64_t row = 0; row < m; ++row)
      for (std::int64_t l = 0; l < k; ++l)
        check::put(args.a, turn_a ? l * m + row : row * k + l, left(row, l));
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t column = 0; column < n; ++column)
        check::put(args.b, turn_b ? column * k + l : l * n + column, right(l, column));
    args.a.device = args.b.device = args.y.device = device;
  }

  std::int64_t wrong(const std::vector<int>& want) const {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < m * n; ++i) count += check::get(args.y, i) != want[std::size_t(i)];
    return count;
  }
};

class Everywhere : public testing::TestWithParam<DeviceKind> {};

// 300 rows are more than a strip of eight small tiles; shifted by one element, nothing can be copied in
// packs.
TEST_P(Everywhere, EveryVariantAddsIntegersExactly) {
  const Device device{GetParam()};
  if (!available(device)) GTEST_SKIP() << "this build has no emulated GPU";
  const OpEntry& entry = entry_of(matmul);
  const auto want = product();
  Stream stream(device, 2);
  for (const DType t : {DType::f64, DType::f32, DType::f16, DType::bf16})
    for (int turns = 0; turns < 4; ++turns) {
      Product p(t, device, turns & 1, turns & 2, turns % 3 == 0 ? 0 : 1);
      for (const int v : entry.fitting(&p.args, device.kind)) {
        stream.fill(p.args.y, 0xFF);
        matmul(p.args, stream, {.variant = v});
        EXPECT_EQ(p.wrong(want), 0) << to_string(t) << ", variant "
                                    << entry.variants(device.kind)[std::size_t(v)].name << ", turns "
                                    << turns;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Matmul, Everywhere, testing::Values(DeviceKind::cpu, DeviceKind::simt),
                         [](const auto& info) { return info.param == DeviceKind::cpu ? "cpu" : "simt"; });

TEST(Matmul, ManyThreadsCallOpenBlasAtOnce) {
  const auto want = product();
  std::atomic<std::int64_t> wrong = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      Stream stream(Device{}, 1 + i % 3);
      Product p(i % 2 ? DType::f32 : DType::f64, Device{}, false, true);
      for (int repeat = 0; repeat < 20; ++repeat) {
        stream.fill(p.args.y, 0xFF);
        matmul(p.args, stream, {.variant = 0});
        wrong += p.wrong(want);
      }
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(Matmul, TensorCoreAliasesRefuseOtherDtypesOnAGpu) {
  const Device device{DeviceKind::simt};
  if (!available(device)) GTEST_SKIP() << "this build has no emulated GPU";
  Product wide(DType::f32, device, false, false), narrow(DType::bf16, device, false, false);
  for (const char* name : {"tensor_core_matmul", "tensor_core_matmul_wmma"}) {
    EXPECT_TRUE(find_op(name).fitting(&wide.args, device.kind).empty());
    EXPECT_FALSE(find_op(name).fitting(&narrow.args, device.kind).empty());
  }
}

}  // namespace
}  // namespace kolmo
