#include "kolmo/ops/random/random_normal/random_normal.hpp"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"

namespace kolmo::check {
namespace {

/// Word `index` of the sequence of 32-bit words of a seed: Philox4x32-10 as its paper writes it.
std::uint32_t philox_word(std::int64_t seed, std::uint64_t index) {
  std::uint32_t x[4] = {std::uint32_t(index / 4), std::uint32_t(index / 4 >> 32), 0, 0};
  std::uint32_t key[2] = {std::uint32_t(seed), std::uint32_t(std::uint64_t(seed) >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = x[0] * 0xD2511F53ull, b = x[2] * 0xCD9E8D57ull;
    const std::uint32_t next[4] = {std::uint32_t(b >> 32) ^ x[1] ^ key[0], std::uint32_t(b),
                                   std::uint32_t(a >> 32) ^ x[3] ^ key[1], std::uint32_t(a)};
    std::copy(next, next + 4, x);
    key[0] += 0x9E3779B9, key[1] += 0xBB67AE85;
  }
  return x[index % 4];
}

std::uint64_t wide_word(std::int64_t seed, std::uint64_t index) {
  return std::uint64_t(philox_word(seed, 2 * index)) << 32 | philox_word(seed, 2 * index + 1);
}

void expected(const RandomNormalArgs& a, DType dtype) {
  const int bits = dtype == DType::f64 ? 52 : 32;
  for (std::int64_t i = 0; i < a.n; ++i) {
    const auto e = std::uint64_t(a.offset + i);
    const std::uint64_t word = dtype == DType::f64 ? wide_word(a.seed, e) >> 12 : philox_word(a.seed, e);
    const bool positive = word >> (bits - 1);
    const std::uint64_t from_center = word & ((1ull << (bits - 1)) - 1);
    const long double tail = 0.5L - (static_cast<long double>(from_center) + 0.5L) * std::ldexp(1.0L, -bits);
    const long double z = std::sqrt(2.0L) * boost::math::erfc_inv(2 * tail);
    put(a.values, i,
        static_cast<long double>(a.mean) + static_cast<long double>(a.deviation) * (positive ? z : -z));
  }
}

template <class T>
std::vector<T> normals(std::int64_t n, std::int64_t seed, std::int64_t offset, Stream& s) {
  std::vector<T> x(static_cast<std::size_t>(n));
  call(random_normal, {.values = tensor(x.data(), {n}), .n = n, .seed = seed, .offset = offset}, s);
  return x;
}

template <class T>
void check_distribution(Stream& s) {
  auto x = normals<T>(20000, 12345, 0, s);
  std::sort(x.begin(), x.end());
  const double n = double(x.size());
  double moment[5] = {}, distance = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double z = double(x[i]), below = 0.5 * std::erfc(-z / std::sqrt(2.0));
    for (int m = 1; m <= 4; ++m) moment[m] += std::pow(z, m) / n;
    distance = std::max({distance, below - double(i) / n, double(i + 1) / n - below});
  }
  const double error =
      5 / std::sqrt(n);  // standard deviations of z, z^2, z^3, z^4: 1, sqrt 2, sqrt 15, sqrt 96
  expect_near(moment[1], 0, error, "mean");
  expect_near(moment[2], 1, error * std::sqrt(2.0), "variance");
  expect_near(moment[3], 0, error * std::sqrt(15.0), "third moment");
  expect(std::abs(moment[4] - 3) < error * std::sqrt(96.0), "fourth moment");
  expect(distance < 1.95 / std::sqrt(n), "Kolmogorov-Smirnov distance beyond the 0.1 % point");
}

constexpr Fact facts[] = {
    {"neighbouring offsets continue the sequence",
     [](Stream& s) {
       const auto all = normals<double>(1000, 3, 0, s);
       for (const std::int64_t cut : {1, 2, 500, 997}) {
         const auto rest = normals<double>(1000 - cut, 3, cut, s);
         expect(std::equal(rest.begin(), rest.end(), all.begin() + cut), "another sequence");
       }
     }},
    {"20000 numbers in f64: four moments within 5 standard errors, Kolmogorov-Smirnov",
     check_distribution<double>},
    {"20000 numbers in f32: four moments within 5 standard errors, Kolmogorov-Smirnov",
     check_distribution<float>},
    {"without deviation every value is the mean",
     [](Stream& s) {
       float x[5] = {};
       call(random_normal, {.values = tensor(x, {5}), .n = 5, .mean = 3, .deviation = 0}, s);
       expect(x[0] == 3 && x[4] == 3, "not the mean");
     }},
};

}  // namespace

extern constinit const Oracle<RandomNormalArgs> random_normal_oracle{random_normal, expected, facts};

}  // namespace kolmo::check
