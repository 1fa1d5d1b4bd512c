#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/nn/layer_norm/layer_norm.hpp"

namespace kolmo::check {
namespace {

void expected(const LayerNormArgs& a) {
  constexpr long double pi = std::numbers::pi_v<long double>;
  const std::int64_t k = a.x.extent[std::size_t(a.x.rank - 1)];
  for (std::int64_t row = 0; row < a.x.size() / k; ++row) {
    long double mean = 0, variance = 0;
    for (std::int64_t i = 0; i < k; ++i) mean += get(a.x, row * k + i) / static_cast<long double>(k);
    for (std::int64_t i = 0; i < k; ++i)
      variance += std::pow(get(a.x, row * k + i) - mean, 2) / static_cast<long double>(k);
    const long double rstd = 1 / std::sqrt(variance + static_cast<long double>(a.eps));
    for (std::int64_t i = 0; i < k; ++i) {
      long double v = (get(a.x, row * k + i) - mean) * rstd;
      if (a.scale.given()) v *= get(a.scale, i);
      if (a.shift.given()) v += get(a.shift, i);
      if (a.activation == Activation::relu) v = std::max(v, 0.0L);
      if (a.activation == Activation::gelu) v *= (1 + std::erf(v / std::sqrt(2.0L))) / 2;
      if (a.activation == Activation::gelu_tanh)
        v *= (1 + std::tanh(std::sqrt(2 / pi) * (v + 0.044715L * v * v * v))) / 2;
      put(a.y, row * k + i, v);
    }
    if (a.mean.given()) put(a.mean, row, mean);
    if (a.rstd.given()) put(a.rstd, row, rstd);
  }
}

constexpr Fact facts[] = {
    {"(1, 3) has mean 2 and variance 1",
     [](Stream& s) {
       double x[] = {1, 3}, scale[] = {10, 10}, shift[] = {0, 1}, y[2] = {}, mean = 0, rstd = 0;
       call(layer_norm,
            {.x = tensor(x, {2}),
             .scale = tensor(scale, {2}),
             .shift = tensor(shift, {2}),
             .y = tensor(y, {2}),
             .mean = tensor(&mean, {}),
             .rstd = tensor(&rstd, {}),
             .eps = 0},
            s);
       expect(mean == 2 && rstd == 1, "wrong moments");
       expect(y[0] == -10 && y[1] == 11, "wrong result");
     }},
    {"a row without variance gives the shift, and NaN without eps",
     [](Stream& s) {
       double x[] = {5, 5, 5}, shift[] = {1, -2, 3}, y[3] = {};
       LayerNormArgs a{.x = tensor(x, {3}), .shift = tensor(shift, {3}), .y = tensor(y, {3})};
       call(layer_norm, a, s);
       expect(y[0] == 1 && y[1] == -2 && y[2] == 3, "not the shift");
       a.eps = 0;
       call(layer_norm, a, s);
       expect(std::isnan(y[0]) && std::isnan(y[2]), "0 / 0 is not NaN");
     }},
    {"a long row of 2^67 has that mean, though its square is beyond f32",
     [](Stream& s) {
       std::vector<float> x(20000, 0x1p67f), y(20000, 1);
       double mean = 0;
       call(layer_norm,
            {.x = tensor(x.data(), {20000}), .y = tensor(y.data(), {20000}), .mean = tensor(&mean, {})}, s);
       expect(mean == 0x1p67, "wrong mean");
       expect(std::all_of(y.begin(), y.end(), [](float v) { return v == 0; }), "not 0");
     }},
    {"relu and gelu of (-1, 1)",
     [](Stream& s) {
       double x[] = {-1, 1}, y[2] = {};
       LayerNormArgs a{.x = tensor(x, {2}), .y = tensor(y, {2}), .eps = 0, .activation = Activation::relu};
       call(layer_norm, a, s);
       expect(y[0] == 0 && y[1] == 1, "wrong relu");
       a.activation = Activation::gelu;
       call(layer_norm, a, s);
       expect_near(y[0], -0.15865525393145705, 1e-16, "gelu(-1) = -Phi(-1)");
       expect_near(y[1], 0.8413447460685429, 1e-15, "gelu(1) = Phi(1)");
     }},
    {"gelu of a large negative number keeps its digits",
     [](Stream& s) {
       double x[] = {-1, 1}, scale[] = {8, 8}, y[2] = {};
       call(layer_norm,
            {.x = tensor(x, {2}),
             .scale = tensor(scale, {2}),
             .y = tensor(y, {2}),
             .eps = 0,
             .activation = Activation::gelu},
            s);
       expect_near(y[0] * 1e14, -0.49767684594174, 1e-12, "-8 Phi(-8) 10^14");
     }},
    {"rows without columns are refused",
     [](Stream& s) {
       double x[1] = {}, y[1] = {};
       expect_invalid(
           [&] {
             call(layer_norm, {.x = tensor(x, {2, 0}), .y = tensor(y, {2, 0})}, s);
           },
           "layer_norm: x must have at least one column");
     }},
};

}  // namespace

extern constinit const Oracle<LayerNormArgs> layer_norm_oracle{layer_norm, expected, facts};

}  // namespace kolmo::check
