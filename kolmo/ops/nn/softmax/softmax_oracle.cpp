#include <algorithm>
#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/nn/softmax/softmax.hpp"

namespace kolmo::check {
namespace {

void expected(const SoftmaxArgs& a) {
  const std::int64_t k = a.x.extent[std::size_t(a.x.rank - 1)];
  for (std::int64_t row = 0; row < a.x.size() / k; ++row) {
    long double largest = -HUGE_VALL, sum = 0;
    for (std::int64_t i = row * k; i < (row + 1) * k; ++i) largest = std::max(largest, get(a.x, i));
    for (std::int64_t i = row * k; i < (row + 1) * k; ++i) sum += std::exp(get(a.x, i) - largest);
    for (std::int64_t i = row * k; i < (row + 1) * k; ++i) put(a.y, i, std::exp(get(a.x, i) - largest) / sum);
  }
}

std::vector<float> softmax_of(std::vector<float> x, Stream& s) {
  std::vector<float> y(x.size(), 7);
  call(softmax,
       {.x = tensor(x.data(), {std::int64_t(x.size())}), .y = tensor(y.data(), {std::int64_t(x.size())})}, s);
  return y;
}

constexpr Fact facts[] = {
    {"(0, ln 3) gives (1/4, 3/4), and equal logits equal shares",
     [](Stream& s) {
       double x[] = {0, std::log(3.0), 5, 5}, y[4] = {};
       call(softmax, {.x = tensor(x, {2, 2}), .y = tensor(y, {2, 2})}, s);
       expect_near(y[0], 0.25, 0x1p-51, "y(0, 0)");
       expect_near(y[1], 0.75, 0x1p-51, "y(0, 1)");
       expect(y[2] == 0.5 && y[3] == 0.5, "wrong shares");
     }},
    {"a row of one element is 1", [](Stream& s) { expect(softmax_of({-3e38f}, s)[0] == 1, "not 1"); }},
    {"large logits do not overflow, and a constant added changes nothing",
     [](Stream& s) {
       const auto y = softmax_of({1e30f, 1e30f, 0}, s);
       expect(y[0] == 0.5f && y[1] == 0.5f && y[2] == 0, "overflow");
       expect(softmax_of({1, 2, 4}, s) == softmax_of({1001, 1002, 1004}, s), "not invariant");
     }},
    {"-inf has probability 0, wherever it stands in a long row",
     [](Stream& s) {
       std::vector<float> x(40000, -INFINITY);
       x[39999] = 3, x[20000] = 3;
       const auto y = softmax_of(x, s);
       expect(y[39999] == 0.5f && y[20000] == 0.5f && y[0] == 0, "wrong probabilities");
     }},
    {"rows sum to 1, short and long",
     [](Stream& s) {
       const Philox random(31);
       for (const std::size_t k : {3u, 128u, 1000u, 20000u}) {
         std::vector<float> x(k);
         for (std::size_t i = 0; i < k; ++i) x[i] = float(random(i, 0).w[0]) * 0x1p-28f;
         double sum = 0;
         for (const float y : softmax_of(x, s)) sum += y;
         expect_near(sum, 1, 80 * 0x1p-24, "the sum");
       }
     }},
    {"NaN, inf, and -inf only make a row NaN",
     [](Stream& s) {
       for (const auto& x : {std::vector<float>{1, NAN, 2}, {1, INFINITY, 2}, {-INFINITY, -INFINITY}})
         for (const float y : softmax_of(x, s)) expect(std::isnan(y), "not NaN");
     }},
};

}  // namespace

extern constinit const Oracle<SoftmaxArgs> softmax_oracle{softmax, expected, facts};

}  // namespace kolmo::check
