#include "kolmo/ops/dense/matmul/matmul.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/check/sanitized.hpp"
#include "kolmo/op/host_call.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/tune/tune_call.hpp"
#include "tests/paths.hpp"

namespace kolmo {
namespace {

struct Sizes {
  std::int64_t m, n, k;
};
constexpr Sizes tiles{270, 70, 40};  // more rows than a strip of eight small tiles has
constexpr Sizes flat{3, 33, 300};    // few rows
constexpr Sizes thin{13, 40, 616};   // few rows; those of b begin at multiples of 16 bytes
constexpr Sizes deep{40, 20, 4100};  // deep enough to be cut into parts

/// Integers from -2 to 2. Their products have exact sums in every dtype.
int left(std::int64_t row, std::int64_t l) { return int((row * 7 + l * 3) % 5) - 2; }
int right(std::int64_t l, std::int64_t column) { return int((l * 2 + column * 11 + l * column) % 5) - 2; }

std::vector<int> product(const Sizes& s) {
  std::vector<int> y(std::size_t(s.m * s.n));
  for (std::int64_t i = 0; i < s.m * s.n; ++i)
    for (std::int64_t l = 0; l < s.k; ++l) y[std::size_t(i)] += left(i / s.n, l) * right(l, i % s.n);
  return y;
}

/// Memory for `count` elements, which begin `shift` elements behind its start.
struct Shifted {
  std::vector<std::byte> memory;
  void* data;
  Shifted(DType t, std::int64_t count, std::int64_t shift)
      : memory(std::size_t(count + shift) * size_of(t)),
        data(memory.data() + std::size_t(shift) * size_of(t)) {}
};

/// A product with the layout selected by `turn_a` and `turn_b`, and y in f32 or f64.
struct Product {
  Sizes s;
  Shifted a, b, y;
  MatmulArgs args{};

  Product(const Sizes& sizes, DType t, Device device, bool turn_a, bool turn_b, std::int64_t shift = 0)
      : s(sizes),
        a(t, s.m * s.k, shift),
        b(t, s.k * s.n, shift),
        y(t == DType::f64 ? t : DType::f32, s.m * s.n, shift) {
    const std::vector<std::int64_t> shape_a{turn_a ? s.k : s.m, turn_a ? s.m : s.k},
        shape_b{turn_b ? s.n : s.k, turn_b ? s.k : s.n};
    args.a = tensor(a.data, t, shape_a), args.b = tensor(b.data, t, shape_b);
    args.y = tensor(y.data, t == DType::f64 ? t : DType::f32, std::vector{s.m, s.n});
    args.transpose_a = turn_a, args.transpose_b = turn_b;
    if (t != DType::f64) args.output = MatmulOutput::f32;
    args.accuracy = 4;  // for the variants that need it
    for (std::int64_t row = 0; row < s.m; ++row)
      for (std::int64_t l = 0; l < s.k; ++l)
        check::put(args.a, turn_a ? l * s.m + row : row * s.k + l, left(row, l));
    for (std::int64_t l = 0; l < s.k; ++l)
      for (std::int64_t column = 0; column < s.n; ++column)
        check::put(args.b, turn_b ? column * s.k + l : l * s.n + column, right(l, column));
    args.a.device = args.b.device = args.y.device = device;
  }

  std::int64_t wrong(const std::vector<int>& want) const {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < want.size(); ++i) count += check::get(args.y, std::int64_t(i)) != want[i];
    return count;
  }
};

class MatmulEverywhere : public testing::TestWithParam<DeviceKind> {};

// With a shift by one element, no copies by packs are possible. Under AddressSanitizer all of this would take
// minutes. There, a variant that has run before is not run with b transposed, and not on the deep sizes
// unless it splits k.
TEST_P(MatmulEverywhere, EveryVariantAddsIntegersExactly) {
  const Device device{GetParam()};
  if (!available(device)) GTEST_SKIP() << "this build has no emulated GPU";
  const OpEntry& entry = entry_of(matmul);
  const auto rows = entry.variants(device.kind);
  std::set<int> ran;
  Stream stream(device, 2);
  for (const Sizes& sizes : {tiles, flat, thin, deep}) {
    const auto want = product(sizes);
    for (const DType t : {DType::f64, DType::f32, DType::f16, DType::bf16})
      for (int turns = 0; turns < 4; ++turns) {
        Product p(sizes, t, device, turns & 1, turns & 2, turns % 3 == 0 ? 0 : 1);
        for (const int v : entry.fitting(&p.args, device.kind)) {
          const bool cuts = rows[std::size_t(v)].name.find("k in") != std::string_view::npos;
          if (check::sanitized && ran.contains(v) && (turns >= 2 || (sizes.k == deep.k && !cuts))) continue;
          stream.fill(p.args.y, 0xFF);
          matmul(p.args, stream, {.variant = v});
          EXPECT_EQ(p.wrong(want), 0)
              << to_string(t) << ", variant " << rows[std::size_t(v)].name << ", turns " << turns;
          ran.insert(v);
        }
      }
  }
  for (std::size_t v = 0; v < rows.size(); ++v)
    EXPECT_EQ(ran.contains(int(v)), !rows[v].hardware_only) << rows[v].name;
}

INSTANTIATE_TEST_SUITE_P(Matmul, MatmulEverywhere, testing::Values(DeviceKind::cpu, DeviceKind::simt),
                         [](const auto& info) { return info.param == DeviceKind::cpu ? "cpu" : "simt"; });

// There are several tiles, more pieces than stages, and remainders in every direction, in layouts that the
// copy engine takes.
TEST(Matmul, HopperAddsIntegersExactly) {
  const Device device{DeviceKind::cuda};
  if (!available(device)) GTEST_SKIP() << "no GPU";
  const OpEntry& entry = entry_of(matmul);
  const auto rows = entry.variants(device.kind);
  Stream stream(device);
  std::set<std::string_view> ran;
  for (const Sizes& sizes : {Sizes{520, 776, 1096}, {40, 24, 72}}) {
    const auto want = product(sizes);
    for (const DType t : {DType::f32, DType::f16, DType::bf16})
      for (int turns = 0; turns < 4; ++turns) {
        Product p(sizes, t, Device{}, turns & 1, turns & 2);
        for (const int v : entry.fitting(&p.args, device.kind)) {
          const std::string_view name = rows[std::size_t(v)].name;
          if (name.find("wgmma") == name.npos) continue;
          std::fill(p.y.memory.begin(), p.y.memory.end(), std::byte(0xFF));
          call_on_host(matmul, p.args, stream, {.variant = v});
          EXPECT_EQ(p.wrong(want), 0) << to_string(t) << ", variant " << name << ", turns " << turns;
          ran.insert(name);
        }
      }
  }
  if (ran.empty()) GTEST_SKIP() << "no GPU of compute capability 9.0, or none in this build";
  EXPECT_EQ(ran.size(), 5u);
}

TEST(Matmul, ManyThreadsCallOpenBlasAtOnce) {
  const auto want = product(tiles);
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      Stream stream(Device{}, 1 + i % 3);
      Product p(tiles, i % 2 ? DType::f32 : DType::f64, Device{}, false, true);
      matmul(p.args, stream, {.variant = 0});
      wrong += p.wrong(want) != 0;
      const std::vector<std::byte> right = p.y.memory;
      for (int repeat = 0; repeat < 1500; ++repeat) {
        stream.fill(p.args.y, 0xFF);
        matmul(p.args, stream, {.variant = 0});
        wrong += p.y.memory != right;
      }
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

/// Makes a call of these sizes with device memory that is never accessed.
MatmulArgs described(std::int64_t batch, const Sizes& s, DType t) {
  const Device device{DeviceKind::simt};
  const auto of = [&](std::int64_t rows, std::int64_t columns) {
    return tensor(reinterpret_cast<void*>(256), t, std::vector{batch, rows, columns}, device);
  };
  return {.a = of(s.m, s.k), .b = of(s.k, s.n), .y = of(s.m, s.n)};
}

std::string default_of(const MatmulArgs& x) {
  const OpEntry& entry = entry_of(matmul);
  const int v = entry.default_variant(&x, DeviceKind::simt);
  return std::string(entry.variants(DeviceKind::simt).at(std::size_t(v)).name);
}

// The times come from tuning on an H200, for the variants that the emulated GPU has too; variants that were
// not reached have none.
TEST(Matmul, DefaultIsTheFastestOfTheTilesThatWereTimed) {
  if (!available({DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  std::ifstream file(source_dir() / "results/h200/matmul_tuning.json");
  const auto record = nlohmann::json::parse(file);
  int cases = 0, timed = 0;
  for (const auto& op : record.at("ops"))
    for (const auto& r : op.at("name") == "matmul" ? op.at("results") : nlohmann::json::array()) {
      const auto& size = r.at("sizes");
      const std::string dtype = r.at("profile").at("key").at("dtype");
      const DType t = *std::find_if(std::begin(all_dtypes), std::end(all_dtypes),
                                    [&](DType d) { return to_string(d) == dtype; });
      MatmulArgs x = described(size.at("..."), {size.at("a0"), size.at("b1"), size.at("a1")}, t);
      if (const std::string name = r.at("case"); name.find("b transposed") != name.npos) {
        x.transpose_b = true;
        x.b.extent[std::size_t(x.b.rank - 2)] = size.at("b0"),
                                          x.b.extent[std::size_t(x.b.rank - 1)] = size.at("b1");
        x.y.extent[std::size_t(x.y.rank - 1)] = size.at("b0");
      }
      std::map<std::string, double> times;
      for (const auto& c : r.at("profile").at("configs"))
        if (const std::string name = c.at("label");
            name != "naive" && name != "cublaslt" && name.find("wgmma") == name.npos)
          times[name] = c.at("median_ns");
      const std::string chosen = default_of(x);
      ++cases;
      if (!times.contains(chosen)) continue;
      ++timed;
      for (const auto& [name, time] : times)
        EXPECT_LE(times.at(chosen), 1.1 * time) << r.at("case") << ": " << chosen << " or " << name;
    }
  EXPECT_GE(cases, 17);
  EXPECT_GE(timed, 15) << "of " << cases;
}

TEST(Matmul, DefaultFollowsTheShape) {
  if (!available({DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  const auto chosen = [](const Sizes& s, DType t) { return default_of(described(1, s, t)); };
  for (const DType t : {DType::f64, DType::f32, DType::f16}) {
    EXPECT_THAT(chosen({64, 64, 1 << 16}, t), testing::HasSubstr(", k in ")) << to_string(t);
    EXPECT_THAT(chosen({8192, 8192, 8192}, t), testing::Not(testing::HasSubstr(", k in "))) << to_string(t);
    for (const Sizes& s : {Sizes{1, 1, 1}, {1, 1, 1 << 20}, {1 << 20, 1, 1}, {3, 3, 0}, {30000, 30000, 1}})
      EXPECT_THAT(chosen(s, t), testing::HasSubstr(t == DType::f16 ? "tensor wmma" : "tiles"));
  }
}

// Lists the fastest variant on an H200 of those that the emulated GPU has too.
TEST(Matmul, DefaultsOfSizesThatWereMeasured) {
  if (!available({DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  const auto chosen = [](const Sizes& s, DType t, std::int64_t batch = 1) {
    return default_of(described(batch, s, t));
  };
  EXPECT_EQ(chosen({16, 4096, 4096}, DType::bf16), "tensor mma 16x32");
  EXPECT_EQ(chosen({64, 64, 64}, DType::f16, 4096), "tensor wmma 64x64");
  EXPECT_EQ(chosen({1024, 1024, 1024}, DType::f32), "f32 tiles 128x64, 2 teams");
  EXPECT_EQ(chosen({64, 64, 65536}, DType::f32), "f32 tiles 64x64, 4 teams, k in 128");
  EXPECT_EQ(chosen({65536, 64, 64}, DType::f32), "f32 tiles 128x64");
  EXPECT_EQ(chosen({32, 32, 32}, DType::f32, 4096), "f32 tiles 32x32");
  EXPECT_EQ(chosen({512, 512, 512}, DType::f32), "f32 tiles 32x32");
  EXPECT_EQ(chosen({16, 4096, 4096}, DType::f32), "f32 rows 16x32");
  EXPECT_EQ(chosen({4096, 4096, 4096}, DType::f32), "f32 tiles 128x256");
  EXPECT_EQ(chosen({1024, 1024, 1024}, DType::f64), "f64 tensor tiles 64x64");
  EXPECT_EQ(chosen({4096, 4096, 4096}, DType::f64), "f64 tensor tiles 128x64");
}

TEST(Matmul, TunerComparesWithTheDefault) {
  const Device device{DeviceKind::simt};
  if (!available(device)) GTEST_SKIP() << "this build has no emulated GPU";
  const Stream stream(device);
  const MatmulArgs x = described(1, {64, 64, 1 << 16}, DType::f32);
  const tune::CallSpace space(matmul, &x, stream);
  EXPECT_EQ(space[space.standard()].label, default_of(x));
  EXPECT_NE(space.standard(), 0u) << "the rule would not be seen to matter";
}

TEST(Matmul, TensorCoreAliasesRefuseOtherDtypesOnAGpu) {
  const Device device{DeviceKind::simt};
  if (!available(device)) GTEST_SKIP() << "this build has no emulated GPU";
  Product wide(tiles, DType::f32, device, false, false), narrow(tiles, DType::bf16, device, false, false);
  for (const char* name : {"tensor_core_matmul", "tensor_core_matmul_wmma"}) {
    EXPECT_TRUE(find_op(name).fitting(&wide.args, device.kind).empty());
    EXPECT_FALSE(find_op(name).fitting(&narrow.args, device.kind).empty());
  }
}

}  // namespace
}  // namespace kolmo
