#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "kolmo/base/error.hpp"
#include "kolmo/op/registry.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"

namespace kolmo {
namespace {

constexpr std::int64_t m = 20, n = 12;

/// The largest error of a variant of y = a b in units of the bound of f32, (k + 3) 2^-24 sum |a| |b|.
double worst(int variant, std::int64_t k, const std::function<float(std::int64_t, std::mt19937&)>& of_a,
             const std::function<float(std::int64_t, std::mt19937&)>& of_b) {
  std::mt19937 random(7);
  std::vector<float> a(std::size_t(m * k)), b(std::size_t(k * n)), y(std::size_t(m * n));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = of_a(std::int64_t(i) % k, random);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = of_b(std::int64_t(i) / n, random);
  const Device device{DeviceKind::simt};
  Stream stream(device, 2);
  matmul({.a = tensor(a.data(), {m, k}, device),
          .b = tensor(b.data(), {k, n}, device),
          .y = tensor(y.data(), {m, n}, device),
          .accuracy = 4},
         stream, {.variant = variant});
  stream.synchronize();
  double most = 0;
  for (std::int64_t i = 0; i < m * n; ++i) {
    double sum = 0, magnitude = 0;
    for (std::int64_t l = 0; l < k; ++l) {
      const double product = double(a[std::size_t(i / n * k + l)]) * double(b[std::size_t(l * n + i % n)]);
      sum += product, magnitude += std::abs(product);
    }
    most = std::max(most, std::abs(double(y[std::size_t(i)]) - sum) / (double(k + 3) * 0x1p-24 * magnitude));
  }
  return most;
}

std::vector<int> variants_by(std::string_view part, double accuracy) {
  static float data[64] = {};
  const Device device{DeviceKind::simt};
  MatmulArgs x{.a = tensor(data, {4, 4}, device),
               .b = tensor(data, {4, 4}, device),
               .y = tensor(data, {4, 4}, device),
               .accuracy = accuracy};
  const OpEntry& entry = entry_of(matmul);
  std::vector<int> found;
  for (const int v : entry.fitting(&x, DeviceKind::simt))
    if (entry.variants(DeviceKind::simt)[std::size_t(v)].name.find(part) != std::string_view::npos)
      found.push_back(v);
  return found;
}

using Make = std::function<float(std::int64_t, std::mt19937&)>;
const Make normal = [](std::int64_t, std::mt19937& random) {
  return std::normal_distribution<float>()(random);
};
/// Magnitudes from 2^-40 to 2^40.
const Make wide = [](std::int64_t, std::mt19937& random) {
  return std::ldexp(std::normal_distribution<float>()(random), int(random() % 81) - 40);
};
const Make positive = [](std::int64_t, std::mt19937& random) { return 1 + float(random()) * 0x1p-32f; };
/// Pairs of neighbours that cancel but for their last bits.
const Make alternating = [](std::int64_t l, std::mt19937& random) {
  return (l % 2 ? -1 : 1) * (1 + float(random() % 8) * 0x1p-23f);
};
const Make ones = [](std::int64_t, std::mt19937&) { return 1.f; };
/// Near the largest float, where the first part must not be rounded up to infinity.
const Make huge = [](std::int64_t, std::mt19937& random) {
  return std::bit_cast<float>(0x7f7fffffu - std::uint32_t(random() % 4096));
};
const Make tiny = [](std::int64_t, std::mt19937& random) {
  return 0x1p-60f * (1 + float(random()) * 0x1p-32f);
};

TEST(MatmulOfSplitFactors, KeepsItsBoundOnEveryKindOfInput) {
  if (!available(Device{DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  const struct {
    const char* name;
    Make a, b;
  } inputs[] = {{"normal", normal, normal},
                {"wide", wide, wide},
                {"positive", positive, positive},
                {"cancelling", alternating, ones},
                {"cancelling products", alternating, positive},
                {"near the largest float", huge, tiny}};
  const std::vector<int> split = variants_by("bf16", 4), plain = variants_by("f32 tiles 32x32", 4);
  ASSERT_EQ(split.size(), 2u);
  for (const auto& input : inputs)
    for (const std::int64_t k : {1, 3, 64, 65, 1500}) {
      for (const int v : split) EXPECT_LE(worst(v, k, input.a, input.b), 2) << input.name << ", k " << k;
      EXPECT_LE(worst(plain.at(0), k, input.a, input.b), 1) << input.name << ", k " << k;
    }
}

TEST(MatmulOfSplitFactors, IsChosenOnlyWhereItsErrorIsAllowed) {
  if (!available(Device{DeviceKind::simt})) GTEST_SKIP() << "this build has no emulated GPU";
  EXPECT_TRUE(variants_by("bf16", 1).empty());
  EXPECT_TRUE(variants_by("bf16", 3.9).empty());
  EXPECT_EQ(variants_by("bf16", 4).size(), 2u);
  for (const double bad : {0., .5, double(NAN)}) {
    float one = 1;
    Stream stream(Device{}, 1);
    EXPECT_THROW(matmul({.a = tensor(&one, {1, 1}),
                         .b = tensor(&one, {1, 1}),
                         .y = tensor(&one, {1, 1}),
                         .accuracy = bad},
                        stream),
                 InvalidArgument);
  }
}

}  // namespace
}  // namespace kolmo
