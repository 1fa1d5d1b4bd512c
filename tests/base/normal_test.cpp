#include "kolmo/base/normal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "kolmo/base/random.hpp"

namespace kolmo {
namespace {

struct Exact {
  long double radius, first, second;
};
Exact exact_pair(std::uint64_t a, std::uint64_t b, int bits) {
  const long double u = std::ldexp(static_cast<long double>(a / 2) + 0.5L, 1 - bits);
  const long double v = std::ldexp(static_cast<long double>(b) + 0.5L, -bits);
  const long double radius = std::sqrt(-2 * std::log(u)), angle = 2 * std::numbers::pi_v<long double> * v;
  return {radius, radius * std::cos(angle), radius * std::sin(angle)};
}

/// Returns words of `bits` bits: the ends, the borders of quadrants and octants, powers of two, and random
/// ones.
std::vector<std::uint64_t> words(int bits, std::uint64_t seed) {
  const std::uint64_t most = (~0ull) >> (64 - bits);
  std::vector<std::uint64_t> all;
  for (int i = 0; i <= 16; ++i)
    for (int d = -2; d <= 2; ++d) all.push_back(((most / 16 * std::uint64_t(i)) + std::uint64_t(d)) & most);
  for (int i = 0; i < bits; ++i) all.push_back(1ull << i), all.push_back(most - (1ull << i));
  const Philox philox(seed);
  for (std::uint64_t i = 0; i < 400; ++i) {
    const Philox::Words words = philox(i, 0);
    const auto& w = words.w;
    all.push_back((std::uint64_t(w[0]) << 32 | w[1]) & most);
  }
  return all;
}

/// The largest error divided by the larger of 1 and the radius, and the largest error of the radius itself.
template <class T, class Word>
std::array<double, 2> largest_errors(int bits) {
  std::array<double, 2> largest{};
  for (const std::uint64_t a : words(bits, 1))
    for (const std::uint64_t b : words(bits, 2)) {
      const Exact want = exact_pair(a, b, bits);
      const auto got =
          normal_pair(Word(a << (8 * int(sizeof(Word)) - bits)), Word(b << (8 * int(sizeof(Word)) - bits)));
      const long double scale = std::max(1.0L, want.radius);
      const double off =
          double(std::max(std::abs(got.first - want.first), std::abs(got.second - want.second)) / scale);
      const long double radius =
          std::hypot(static_cast<long double>(got.first), static_cast<long double>(got.second));
      largest = {std::max(largest[0], off), std::max(largest[1], double(std::abs(radius / want.radius - 1)))};
    }
  return largest;
}

TEST(NormalPair, KeepsItsErrorInDouble) {
  const auto error = largest_errors<double, std::uint64_t>(52);
  EXPECT_LT(error[0], 1e-15);
  EXPECT_LT(error[1], 1e-15) << "near 0 too";
}
TEST(NormalPair, KeepsItsErrorInFloat) {
  const auto error = largest_errors<float, std::uint32_t>(32);
  EXPECT_LT(error[0], 4e-7);
  EXPECT_LT(error[1], 4e-7) << "near 0 too";
}

TEST(NormalPair, HasTheDocumentedEnds) {
  EXPECT_NEAR(normal_pair(0u, 0u).first, std::sqrt(64 * std::numbers::ln2), 1e-5);
  EXPECT_NEAR(normal_pair(std::uint64_t(0), std::uint64_t(0)).first, std::sqrt(104 * std::numbers::ln2),
              1e-14);
  const auto smallest = normal_pair(~0u, 0u);
  EXPECT_NEAR(smallest.first, std::sqrt(0x1p-31), 1e-11) << "not 0";
  EXPECT_LT(normal_pair(0u, 0x80000000u).first, -6.6f);
  EXPECT_GT(normal_pair(0u, 0x40000000u).second, 6.6f);
  EXPECT_LT(normal_pair(0u, 0xC0000000u).second, -6.6f);
}

template <class T>
std::vector<double> draws(std::int64_t n) {
  std::vector<T> x(static_cast<std::size_t>(n));
  const RandomSequence<T, NormalValue<T>> sequence{Philox(2026), {0, 1}, 0, n, x.data()};
  for (std::int64_t b = 0; b < sequence.blocks(); ++b) sequence.write(b);
  return {x.begin(), x.end()};
}

double below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

/// Checks four moments, the tails and Kolmogorov-Smirnov, each at five standard errors or at the 0.1 % point.
void check_distribution(std::vector<double> x) {
  const double n = double(x.size());
  const double error[] = {0, 1, std::sqrt(2.0), std::sqrt(15.0), std::sqrt(96.0)}, want[] = {1, 0, 1, 0, 3};
  double moment[5] = {}, of_squares = 0, of_values = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (int m = 1; m <= 4; ++m) moment[m] += std::pow(x[i], m) / n;
  for (int m = 1; m <= 4; ++m) EXPECT_NEAR(moment[m], want[m], 5 * error[m] / std::sqrt(n)) << m;
  for (std::size_t i = 0; i < x.size(); i += 2) {
    of_values += x[i] * x[i + 1] * 2 / n;
    of_squares += (x[i] * x[i] - 1) * (x[i + 1] * x[i + 1] - 1) * 2 / n;
  }
  EXPECT_NEAR(of_values, 0, 5 / std::sqrt(n / 2)) << "the two of a pair";
  EXPECT_NEAR(of_squares, 0, 5 * 2 / std::sqrt(n / 2)) << "the squares of the two";
  for (const double z : {2.0, 3.0, 4.0, 4.5})
    for (const double side : {-1.0, 1.0}) {
      const auto count = std::count_if(x.begin(), x.end(), [&](double v) { return side * v > z; });
      const double p = below(-z);
      EXPECT_NEAR(double(count), n * p, 5 * std::sqrt(n * p)) << side * z;
    }
  std::sort(x.begin(), x.end());
  double distance = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    distance = std::max({distance, below(x[i]) - double(i) / n, double(i + 1) / n - below(x[i])});
  EXPECT_LT(distance, 1.95 / std::sqrt(n));
}

TEST(NormalDraws, AreNormalInFloat) { check_distribution(draws<float>(1 << 21)); }
TEST(NormalDraws, AreNormalInDouble) { check_distribution(draws<double>(1 << 21)); }

TEST(NormalDraws, AreTheSameOneByOne) {
  std::vector<float> x(1001);
  const RandomSequence<float, NormalValue<float>> sequence{Philox(5), {1, 2}, 3, 1001, x.data()};
  for (std::int64_t b = 0; b < sequence.blocks(); ++b) sequence.write(b);
  for (std::int64_t i = 0; i < 1001; ++i) EXPECT_EQ(sequence.element(i), x[std::size_t(i)]) << i;
}

}  // namespace
}  // namespace kolmo
