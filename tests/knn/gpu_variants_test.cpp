// Two variants for GPUs, trees and shared lists, on the emulated GPU, compared bit by bit with the CPU on difficult data.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/op/registry.hpp"
#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"
#include "simt/launch.hpp"

namespace kolmo {
namespace {

enum class Data {
  normal,
  discrete,
  heavy_tails,
  smooth,
  constant_z,
  duplicates,
  tiny_range,
  half_steps,
  subnormal,
  large,
  largest,
  mixed_ranges
};
struct Setting {
  std::int64_t n;
  int dx, dy, dz;
  std::int64_t k = 4, theiler = 0, surrogates = 0, b = 1;
  Data data = Data::normal;
  SurrogateType type = SurrogateType::circular;
  bool times = false;
  std::vector<std::int64_t> segments = {};
  KsgAlgorithm algorithm = KsgAlgorithm::ksg1;
};

template <class T>
class Estimates {
 public:
  explicit Estimates(const Setting& s)
      : s_(s), x_(fill(s.b * s.n, s.dx)), y_(fill(s.n, s.dy)), z_(fill(s.n, s.dz)), segments_(s.segments) {
    if (s.data == Data::constant_z) std::fill(z_.begin(), z_.end(), T(3));
    for (std::int64_t t = 0; t < s.n; ++t) time_.push_back(t + t / 50 * 3);
  }
  /// The estimates, followed by the local values.
  std::vector<double> on(Device device, int variant) {
    const auto problems = std::int64_t(s_.segments.empty() ? 1 : s_.segments.size() - 1);
    std::vector<double> value(std::size_t(problems * s_.b * (1 + s_.surrogates))),
        local(std::size_t(s_.b * s_.n));
    Stream stream(device);
    KsgConditionalMutualInformationArgs a{.x = tensor(x_.data(), {s_.b, s_.n, s_.dx}, device),
                                          .y = tensor(y_.data(), {s_.n, s_.dy}, device)};
    if (s_.dz) a.z = tensor(z_.data(), {s_.n, s_.dz}, device);
    if (s_.times) a.time = tensor(time_.data(), {s_.n}, device);
    if (problems > 1) a.segments = tensor(segments_.data(), {problems + 1}, device);
    a.value = tensor(value.data(), {problems, s_.b, 1 + s_.surrogates}, device);
    a.local = tensor(local.data(), {s_.b, s_.n}, device);
    a.k = s_.k, a.theiler = s_.theiler, a.surrogates = s_.surrogates, a.surrogate_type = s_.type, a.seed = 7;
    a.algorithm = s_.algorithm;
    ksg_conditional_mutual_information(a, stream, {.variant = variant});
    stream.synchronize();
    value.insert(value.end(), local.begin(), local.end());
    return value;
  }

 private:
  std::vector<T> fill(std::int64_t rows, int columns) {
    std::vector<T> v;
    std::normal_distribution<double> normal;
    double state = 0;
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      const double g = normal(random_);
      state = 0.99 * state + g;
      v.push_back(T(s_.data == Data::discrete       ? std::round(2 * g)
                    : s_.data == Data::heavy_tails  ? g / normal(random_)
                    : s_.data == Data::smooth       ? state
                    : s_.data == Data::tiny_range   ? 1e6 + 1e-9 * g
                    : s_.data == Data::half_steps   ? 1 + std::round(3 * g) * 0x1p-24  // where images round
                    : s_.data == Data::subnormal    ? 1e-310 * g
                    : s_.data == Data::large        ? 1e300 * g
                    : s_.data == Data::largest      ? (i % 3 ? 1 : -1) * 1.7e308 + 1e306 * g
                    : s_.data == Data::mixed_ranges ? std::pow(10, double(i % 9 - 4) * 75) * g
                                                    : g));
      const std::int64_t half = rows / 2 * columns;
      if (s_.data == Data::duplicates && i >= half) v.back() = v[std::size_t(i - half)];
    }
    return v;
  }
  std::mt19937_64 random_{5};
  Setting s_;
  std::vector<T> x_, y_, z_;
  std::vector<std::int64_t> time_, segments_;
};

int variant_of_gpus(std::string_view name) {
  return entry_of(ksg_conditional_mutual_information).find_variant(DeviceKind::simt, name);
}
int trees() { return variant_of_gpus("trees"); }
int images() { return variant_of_gpus("trees of f32 images"); }
int lists() { return variant_of_gpus("neighbour lists, lanes are estimates"); }

class GpuVariants : public testing::TestWithParam<Setting> {
 protected:
  template <class T>
  void expect_the_bits_of_the_cpu(int variant) {
    if (variant < 0) GTEST_SKIP() << "this build has no emulated GPU";
    Estimates<T> run(GetParam());
    EXPECT_EQ(run.on({DeviceKind::simt}, variant), run.on({}, -1));
  }
};

class GpuTrees : public GpuVariants {};
const Setting settings[] = {
    {.n = 6, .dx = 1, .dy = 1, .dz = 1},
    {.n = 31, .dx = 1, .dy = 1, .dz = 0},
    {.n = 32, .dx = 1, .dy = 1, .dz = 1},
    {.n = 33, .dx = 1, .dy = 1, .dz = 1, .surrogates = 2},
    {.n = 65, .dx = 2, .dy = 1, .dz = 0, .k = 1},
    {.n = 1000, .dx = 1, .dy = 1, .dz = 0, .surrogates = 1},
    {.n = 1000, .dx = 1, .dy = 1, .dz = 1, .theiler = 3, .surrogates = 1, .type = SurrogateType::permute},
    {.n = 1025, .dx = 1, .dy = 1, .dz = 2, .k = 16, .theiler = 5, .times = true},
    {.n = 1100, .dx = 2, .dy = 1, .dz = 2, .k = 3, .surrogates = 1, .b = 2, .type = SurrogateType::block},
    {.n = 900, .dx = 3, .dy = 1, .dz = 3},
    {.n = 500, .dx = 1, .dy = 7, .dz = 0, .k = 5, .theiler = 40},
    {.n = 500, .dx = 3, .dy = 3, .dz = 2},
    {.n = 5000, .dx = 1, .dy = 1, .dz = 1},
    {.n = 800, .dx = 1, .dy = 1, .dz = 1, .surrogates = 1, .data = Data::discrete},
    {.n = 400, .dx = 2, .dy = 1, .dz = 2, .theiler = 2, .data = Data::discrete},
    {.n = 800, .dx = 1, .dy = 1, .dz = 1, .surrogates = 1, .data = Data::heavy_tails},
    {.n = 800, .dx = 2, .dy = 1, .dz = 2, .theiler = 20, .data = Data::smooth},
    {.n = 300, .dx = 1, .dy = 1, .dz = 1, .data = Data::constant_z},
    {.n = 300, .dx = 1, .dy = 1, .dz = 2, .data = Data::duplicates},
    {.n = 300, .dx = 1, .dy = 1, .dz = 1, .k = 1, .data = Data::duplicates},
    {.n = 300, .dx = 1, .dy = 1, .dz = 1, .data = Data::tiny_range},
    {.n = 1500, .dx = 1, .dy = 1, .dz = 1, .surrogates = 1, .segments = {0, 40, 1100, 1130, 1500}},
    {.n = 700, .dx = 1, .dy = 2, .dz = 2, .theiler = 4, .b = 2, .times = true, .segments = {0, 333, 700}},
    {.n = 33, .dx = 1, .dy = 1, .dz = 0, .surrogates = 1, .algorithm = KsgAlgorithm::ksg2},
    {.n = 1000, .dx = 1, .dy = 1, .dz = 1, .k = 3, .surrogates = 1, .algorithm = KsgAlgorithm::ksg2},
    {.n = 400, .dx = 1, .dy = 1, .dz = 1, .data = Data::discrete, .algorithm = KsgAlgorithm::ksg2},
    {.n = 300, .dx = 1, .dy = 1, .dz = 0, .k = 7, .data = Data::discrete, .algorithm = KsgAlgorithm::ksg2},
    {.n = 600, .dx = 2, .dy = 2, .dz = 2, .k = 9, .theiler = 3, .algorithm = KsgAlgorithm::ksg2},
    {.n = 300, .dx = 2, .dy = 1, .dz = 1, .data = Data::duplicates, .algorithm = KsgAlgorithm::ksg2},
    {.n = 600, .dx = 1, .dy = 1, .dz = 2, .segments = {0, 250, 600}, .algorithm = KsgAlgorithm::ksg2},
};
INSTANTIATE_TEST_SUITE_P(All, GpuTrees, testing::ValuesIn(settings));

TEST_P(GpuTrees, GiveTheBitsOfTheCpu) { expect_the_bits_of_the_cpu<double>(trees()); }
TEST_P(GpuTrees, OfImagesGiveTheBitsOfTheCpu) { expect_the_bits_of_the_cpu<double>(images()); }
TEST_P(GpuTrees, GiveTheBitsOfTheCpuInSinglePrecision) { expect_the_bits_of_the_cpu<float>(trees()); }

/// Data whose images in f32 say little or nothing, and kinds of searches.
class GpuTreesOfImages : public GpuVariants {};
const Setting hard_to_image[] = {
    {.n = 300, .dx = 1, .dy = 1, .dz = 1, .surrogates = 1, .data = Data::half_steps},
    {.n = 300, .dx = 2, .dy = 1, .dz = 2, .theiler = 3, .data = Data::half_steps},
    {.n = 300, .dx = 1, .dy = 1, .dz = 0, .k = 9, .data = Data::half_steps, .algorithm = KsgAlgorithm::ksg2},
    {.n = 300, .dx = 1, .dy = 1, .dz = 1, .surrogates = 1, .data = Data::subnormal},
    {.n = 300, .dx = 1, .dy = 1, .dz = 0, .data = Data::subnormal, .algorithm = KsgAlgorithm::ksg2},
    {.n = 300, .dx = 1, .dy = 1, .dz = 1, .surrogates = 1, .data = Data::large},
    {.n = 300, .dx = 1, .dy = 1, .dz = 1, .surrogates = 1, .data = Data::largest},
    {.n = 300, .dx = 2, .dy = 1, .dz = 0, .data = Data::largest, .algorithm = KsgAlgorithm::ksg2},
    {.n = 400, .dx = 1, .dy = 1, .dz = 1, .surrogates = 2, .data = Data::mixed_ranges},
    {.n = 400, .dx = 1, .dy = 1, .dz = 0, .k = 1, .surrogates = 2, .data = Data::mixed_ranges},
    {.n = 400, .dx = 1, .dy = 2, .dz = 2, .data = Data::mixed_ranges, .segments = {0, 130, 400}},
};
INSTANTIATE_TEST_SUITE_P(All, GpuTreesOfImages, testing::ValuesIn(hard_to_image));

TEST_P(GpuTreesOfImages, GiveTheBitsOfTheCpu) { expect_the_bits_of_the_cpu<double>(images()); }
TEST_P(GpuTreesOfImages, GiveTheBitsOfTheTreesOfExactValues) {
  if (images() < 0) GTEST_SKIP() << "this build has no emulated GPU";
  Estimates<double> run(GetParam());
  EXPECT_EQ(run.on({DeviceKind::simt}, images()), run.on({DeviceKind::simt}, trees()));
}

/// Lists of at most 1024 and 2048 entries are too short for some points of these, for all estimates or a few.
class GpuLists : public GpuVariants {};
const Setting long_lists[] = {
    {.n = 1300, .dx = 1, .dy = 1, .dz = 1, .surrogates = 40, .data = Data::heavy_tails},
    {.n = 1100, .dx = 1, .dy = 1, .dz = 0, .surrogates = 40, .data = Data::heavy_tails},
    {.n = 1200, .dx = 1, .dy = 1, .dz = 2, .surrogates = 12, .data = Data::discrete},
    {.n = 1200, .dx = 1, .dy = 1, .dz = 1, .surrogates = 12, .data = Data::duplicates},
    {.n = 2500, .dx = 1, .dy = 1, .dz = 2, .surrogates = 33},
    {.n = 2500, .dx = 1, .dy = 1, .dz = 2, .surrogates = 70, .type = SurrogateType::permute},
    {.n = 2400, .dx = 2, .dy = 1, .dz = 2, .k = 9, .theiler = 7, .surrogates = 15, .data = Data::heavy_tails},
    {.n = 2600,
     .dx = 3,
     .dy = 2,
     .dz = 3,
     .k = 16,
     .surrogates = 31,
     .times = true,
     .segments = {0, 2200, 2600}},
};
INSTANTIATE_TEST_SUITE_P(All, GpuLists, testing::ValuesIn(long_lists));
TEST_P(GpuLists, GiveTheBitsOfTheCpu) { expect_the_bits_of_the_cpu<double>(lists()); }

class GpuListsInSinglePrecision : public GpuVariants {};
INSTANTIATE_TEST_SUITE_P(All, GpuListsInSinglePrecision, testing::ValuesIn(long_lists, long_lists + 4));
TEST_P(GpuListsInSinglePrecision, GiveTheBitsOfTheCpu) { expect_the_bits_of_the_cpu<float>(lists()); }

/// The variant in use for n rows.
template <class T = double>
std::string in_use(std::int64_t n, int dx, int dy, int dz, std::int64_t surrogates = 0, std::int64_t k = 4,
                   std::int64_t problems = 1) {
  KsgConditionalMutualInformationArgs a{.x = tensor(static_cast<T*>(nullptr), {1, n, dx}),
                                        .y = tensor(static_cast<T*>(nullptr), {n, dy})};
  if (dz) a.z = tensor(static_cast<T*>(nullptr), {n, dz});
  if (problems > 1) a.segments = tensor(static_cast<std::int64_t*>(nullptr), {problems + 1});
  a.surrogates = surrogates, a.k = k;
  const OpEntry& entry = entry_of(ksg_conditional_mutual_information);
  return std::string(entry.impl(DeviceKind::simt)->rows()[entry.default_variant(&a, DeviceKind::simt)].name);
}

TEST(GpuTrees, AreInUseForManyRows) {
  if (trees() < 0) GTEST_SKIP() << "this build has no emulated GPU";
  const std::string walks = "lanes are neighbours";
  for (const auto& [dx, dy, dz] :
       {std::array{1, 1, 0}, {1, 3, 0}, {1, 7, 0}, {1, 1, 1}, {1, 1, 2}, {3, 1, 3}}) {
    for (const std::int64_t n : {100, 1000, 10000}) EXPECT_EQ(in_use(n, dx, dy, dz), walks);
    for (const std::int64_t n : {50000, 1000000, 10000000}) EXPECT_EQ(in_use(n, dx, dy, dz), "trees");
    EXPECT_EQ(in_use(1000000, dx, dy, dz, 100), "trees");
    EXPECT_EQ(in_use(1000000, dx, dy, dz, 0, 17), walks) << "k";
  }
  EXPECT_EQ(in_use(1000000, 1, 8, 0), walks) << "nine columns";
  EXPECT_EQ(in_use(1000000, 1, 1, 1, 0, 4, 1000), walks) << "1000 rows in each problem";
  EXPECT_EQ(in_use(1000000, 1, 1, 1, 0, 4, 2), "trees");
  EXPECT_EQ(in_use(50000, 1, 1, 1, 100), "neighbour lists, lanes are estimates");
}

TEST(GpuTreesOfImages, AreInUseWhereF64IsSlow) {
  if (images() < 0) GTEST_SKIP() << "this build has no emulated GPU";
  const std::string walks = "lanes are neighbours", lists_in_use = "neighbour lists, lanes are estimates";
  EXPECT_EQ(in_use(1000000, 1, 1, 1), "trees");
  struct Slow {
    explicit Slow(int ratio) { simt::f64_ratio = ratio; }
    ~Slow() { simt::f64_ratio = 2; }
  } const slow(64);
  for (const auto& [dx, dy, dz] : {std::array{1, 1, 0}, {1, 1, 1}, {3, 1, 3}}) {
    EXPECT_EQ(in_use(1000000, dx, dy, dz), "trees of f32 images");
    EXPECT_EQ(in_use(10000, dx, dy, dz), "trees of f32 images");
    EXPECT_EQ(in_use(100, dx, dy, dz), walks);
    EXPECT_EQ(in_use<float>(1000000, dx, dy, dz), "trees");
    EXPECT_EQ(in_use<float>(10000, dx, dy, dz), walks);
    EXPECT_EQ(in_use(1000000, dx, dy, dz, 0, 17), walks) << "k";
  }
  EXPECT_EQ(in_use(50000, 1, 1, 1, 100), "trees of f32 images");
  EXPECT_EQ(in_use(1000, 1, 1, 1, 100), lists_in_use);
}

}  // namespace
}  // namespace kolmo
