#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "kolmo/check/reference.hpp"
#include "kolmo/ops/random/random_normal/random_normal.hpp"

namespace kolmo::check {
namespace {

void expected(const RandomNormalArgs& a, DType dtype) {
  const bool wide = dtype == DType::f64;
  const int bits = wide ? 52 : 32;
  const auto word = [&](std::uint64_t e) {
    return wide ? philox64(a.seed, e) >> 12 : std::uint64_t(philox32(a.seed, e));
  };
  for (std::int64_t i = 0; i < a.n; ++i) {
    const auto e = std::uint64_t(a.offset + i);
    const auto share = static_cast<long double>(word(e / 2 * 2) / 2) + 0.5L;
    const auto direction = static_cast<long double>(word(e / 2 * 2 + 1)) + 0.5L;
    const long double radius = std::sqrt(-2 * std::log(std::ldexp(share, 1 - bits)));
    const long double angle = 2 * std::numbers::pi_v<long double> * std::ldexp(direction, -bits);
    const long double z = radius * (e % 2 ? std::sin(angle) : std::cos(angle));
    put(a.values, i, static_cast<long double>(a.mean) + static_cast<long double>(a.deviation) * z);
  }
}

template <class T>
std::vector<T> normals(std::int64_t n, std::uint64_t seed, std::int64_t offset, Stream& s) {
  std::vector<T> x(static_cast<std::size_t>(n));
  call(random_normal, {.values = tensor(x.data(), {n}), .n = n, .offset = offset, .seed = seed}, s);
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
