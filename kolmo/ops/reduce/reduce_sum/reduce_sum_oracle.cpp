#include <cmath>
#include <string>
#include <vector>

#include "kolmo/check/reference.hpp"
#include "kolmo/ops/reduce/reduce_sum/reduce_sum.hpp"

namespace kolmo::check {
namespace {

float sum_of(std::vector<float>& x, Stream& s) {
  float sum = -1;
  call(reduce_sum, {.x = tensor(x.data(), {std::int64_t(x.size())}), .sum = tensor(&sum, {})}, s);
  return sum;
}

/// Sums rows that hold every pattern of bits of T. A row has k neighbouring patterns; their exponents differ
/// by at most 32, so that the sum is exact in double. Some rows hold infinities as well.
template <class T>
void sum_every_pattern(std::int64_t k, Stream& s) {
  const std::int64_t n = std::int64_t(1) << 21, rows = n / k;
  std::vector<T> x(static_cast<std::size_t>(n)), sums(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < n; ++i) x[std::size_t(i)].bits = std::uint16_t(i);
  const auto set = [&](std::int64_t row, std::int64_t column, float value) {
    x[std::size_t(row * k + column)] = T(value);
  };
  set(32, 100, INFINITY);
  set(33, 0, INFINITY), set(33, k - 1, -INFINITY);
  set(34, 0, -INFINITY), set(34, 1, -INFINITY);
  set(35, 77, NAN);
  call(reduce_sum, {.x = tensor(x.data(), {rows, k}), .sum = tensor(sums.data(), {rows})}, s);
  for (std::int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::int64_t i = 0; i < k; ++i) sum += double(float(x[std::size_t(row * k + i)]));
    const float got = float(sums[std::size_t(row)]), want = float(T(float(sum)));
    expect(std::isnan(want) ? std::isnan(got) : got == want, "wrong sum of row " + std::to_string(row));
  }
}

constexpr Fact facts[] = {
    {"sums of every f16 and bf16",
     [](Stream& s) {
       for (const std::int64_t k : {2048, 4096})
         sum_every_pattern<Half>(k, s), sum_every_pattern<BFloat16>(k, s);
     }},
    {"rows of 1, 2, 3 and 4, 5, 6",
     [](Stream& s) {
       double x[] = {1, 2, 3, 4, 5, 6}, sum[2] = {};
       call(reduce_sum, {.x = tensor(x, {2, 3}), .sum = tensor(sum, {2})}, s);
       expect(sum[0] == 6 && sum[1] == 15, "wrong sums");
     }},
    {"an empty row sums to 0",
     [](Stream& s) {
       double x[1] = {}, sum[2] = {7, 7};
       call(reduce_sum, {.x = tensor(x, {2, 0}), .sum = tensor(sum, {2})}, s);
       expect(sum[0] == 0 && sum[1] == 0, "not 0");
     }},
    {"f32 does not lose 2^24 ones, nor small terms beside large ones that cancel",
     [](Stream& s) {
       std::vector<float> ones(3000, 1.0f);
       ones[0] = 0x1p24f;
       expect(sum_of(ones, s) == 0x1p24f + 3000, "added in float");
       std::vector<float> cancelling(5000, 0.0f);
       cancelling[0] = 1e20f, cancelling[1] = 3, cancelling[4999] = -1e20f;
       expect(std::abs(sum_of(cancelling, s)) <= 0x1p15f, "beyond the bound of the contract");
     }},
    {"inf and NaN stay, and f16 overflows to inf",
     [](Stream& s) {
       std::vector<float> x(100, 1.0f);
       x[57] = INFINITY;
       expect(sum_of(x, s) == INFINITY, "not inf");
       x[3] = -INFINITY;
       expect(std::isnan(sum_of(x, s)), "inf - inf is not NaN");
       Half h[] = {Half(60000.0f), Half(60000.0f)}, sum;
       call(reduce_sum, {.x = tensor(h, {2}), .sum = tensor(&sum, {})}, s);
       expect(float(sum) == INFINITY, "120000 is no f16");
     }},
};

}  // namespace

extern constinit const Oracle<ReduceSumArgs> reduce_sum_oracle{
    reduce_sum, per_row<[](auto x) { return x; }, &ReduceSumArgs::sum, &ReduceSumArgs::x>, facts};

}  // namespace kolmo::check
