#include <algorithm>
#include <cmath>
#include <vector>

#include "kolmo/check/reference.hpp"
#include "kolmo/ops/random/random_uniform/random_uniform.hpp"

namespace kolmo::check {
namespace {

void expected(const RandomUniformArgs& a, DType dtype) {
  const int bits = dtype == DType::f64 ? 53 : dtype == DType::f32 ? 24 : dtype == DType::f16 ? 11 : 8;
  for (std::int64_t i = 0; i < a.n; ++i) {
    const auto e = std::uint64_t(a.offset + i);
    const std::uint64_t word =
        dtype == DType::f64 ? philox64(a.seed, e) >> (64 - bits) : philox32(a.seed, e) >> (32 - bits);
    const long double low = a.low, high = a.high;
    put(a.values, i, low + (high - low) * std::ldexp(static_cast<long double>(word), -bits));
  }
}

std::vector<float> uniforms(std::int64_t n, std::uint64_t seed, std::int64_t offset, Stream& s) {
  std::vector<float> x(std::size_t(n), -1);
  call(random_uniform, {.values = tensor(x.data(), {n}), .n = n, .offset = offset, .seed = seed}, s);
  return x;
}

constexpr Fact facts[] = {
    {"the first numbers of seed 0 are Random123's known answers",
     [](Stream& s) {
       const std::uint32_t known[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
       const auto x = uniforms(4, 0, 0, s);
       for (int i = 0; i < 4; ++i)
         expect(x[std::size_t(i)] == float(known[i] >> 8) * 0x1p-24f, "not the known answer");
       double wide[2] = {};
       call(random_uniform, {.values = tensor(wide, {2}), .n = 2}, s);
       expect(wide[0] == double(0x6627e8d5e169c58dull >> 11) * 0x1p-53, "not the known answer in f64");
     }},
    {"neighbouring offsets continue the sequence",
     [](Stream& s) {
       const auto all = uniforms(1000, 3, 0, s);
       for (const std::int64_t cut : {1, 2, 3, 500, 997}) {
         const auto rest = uniforms(1000 - cut, 3, cut, s);
         expect(std::equal(rest.begin(), rest.end(), all.begin() + cut), "another sequence");
       }
       expect(uniforms(10, 4, 0, s) != uniforms(10, 3, 0, s), "the seed changes nothing");
     }},
    {"20000 numbers: in [0, 1), mean 1/2, variance 1/12, Kolmogorov-Smirnov",
     [](Stream& s) {
       auto x = uniforms(20000, 12345, 0, s);
       std::sort(x.begin(), x.end());
       expect(x.front() >= 0 && x.back() < 1, "outside");
       const double n = double(x.size());
       double sum = 0, squares = 0, distance = 0;
       for (std::size_t i = 0; i < x.size(); ++i) {
         const double u = double(x[i]);
         sum += u, squares += (u - 0.5) * (u - 0.5);
         distance = std::max({distance, u - double(i) / n, double(i + 1) / n - u});
       }
       expect_near(sum / n, 0.5, 5 * std::sqrt(1.0 / 12 / n), "mean, within 5 standard errors");
       expect_near(squares / n, 1.0 / 12, 5 * std::sqrt(1.0 / 180 / n), "variance, within 5 standard errors");
       expect(distance < 1.95 / std::sqrt(n), "Kolmogorov-Smirnov distance beyond the 0.1 % point");
     }},
    {"an interval the wrong way round is refused",
     [](Stream& s) {
       float x[1];
       expect_invalid(
           [&] { call(random_uniform, {.values = tensor(x, {1}), .n = 1, .low = 2, .high = 1}, s); },
           "random_uniform: low must not exceed high");
     }},
};

}  // namespace

extern constinit const Oracle<RandomUniformArgs> random_uniform_oracle{random_uniform, expected, facts};

}  // namespace kolmo::check
