#include <cmath>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/nn/linear/linear.hpp"

namespace kolmo::check {
namespace {

long double value_of(Activation f, long double x) {
  const long double pi = 3.141592653589793238462643383279502884L;
  if (f == Activation::relu) return x > 0 ? x : 0;
  if (f == Activation::gelu) return x * std::erfc(-x / std::sqrt(2.0L)) / 2;
  if (f == Activation::gelu_tanh)
    return x * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715L * x * x * x))) / 2;
  return x;
}

void expected(const LinearArgs& a) {
  const std::int64_t k = a.x.dim(-1), n = a.y.dim(-1);
  for (std::int64_t i = 0; i < a.y.size(); ++i) {
    const std::int64_t out = i % n;
    long double sum = a.bias.given() ? get(a.bias, out) : 0;
    for (std::int64_t in = 0; in < k; ++in)
      sum += get(a.x, i / n * k + in) *
             get(a.weight, a.layout == WeightLayout::out_in ? out * k + in : in * n + out);
    put(a.y, i, value_of(a.activation, sum));
  }
}

constexpr Fact facts[] = {
    {"(1 2) W' + (0.5 -20), W = (3 4; 5 6), is (11.5 -3), and relu takes the -3",
     [](Stream& s) {
       float x[] = {1, 2}, w[] = {3, 4, 5, 6}, bias[] = {0.5, -20}, y[2] = {};
       const LinearArgs a{
           .x = tensor(x, {2}), .weight = tensor(w, {2, 2}), .bias = tensor(bias, {2}), .y = tensor(y, {2})};
       call(linear, a, s), expect(y[0] == 11.5f && y[1] == -3, "wrong sum");
       call(fused_linear_relu, a, s), expect(y[0] == 11.5f && y[1] == 0, "wrong relu");
     }},
    {"fused_matmul_relu takes W as k n: (1 2) (3 -4; 5 -6) is (13 -16)",
     [](Stream& s) {
       double x[] = {1, 2}, w[] = {3, -4, 5, -6}, y[2] = {};
       call(fused_matmul_relu, {.x = tensor(x, {2}), .weight = tensor(w, {2, 2}), .y = tensor(y, {2})}, s);
       expect(y[0] == 13 && y[1] == 0, "wrong product");
     }},
    {"gelu(0) = 0, far above 0 it is x, and far below it is 0",
     [](Stream& s) {
       double x[] = {0, 30, -30}, w[] = {1}, y[3] = {7, 7, 7};
       call(fused_linear_gelu, {.x = tensor(x, {3, 1}), .weight = tensor(w, {1, 1}), .y = tensor(y, {3, 1})},
            s);
       expect(y[0] == 0 && y[1] == 30 && std::fabs(y[2]) < 1e-100, "wrong gelu");
     }},
    {"rows of no input give the activation of the bias",
     [](Stream& s) {
       float nothing = 0, bias[] = {2, -1}, y[2] = {};
       call(fused_linear_relu,
            {.x = tensor(&nothing, {1, 0}),
             .weight = tensor(&nothing, {2, 0}),
             .bias = tensor(bias, {2}),
             .y = tensor(y, {1, 2})},
            s);
       expect(y[0] == 2 && y[1] == 0, "wrong value");
     }},
    {"weights and biases of other sizes are refused",
     [](Stream& s) {
       float x[6] = {}, w[6] = {}, y[6] = {};
       LinearArgs a{.x = tensor(x, {2, 3}), .weight = tensor(w, {3, 2}), .y = tensor(y, {2, 3})};
       expect_invalid([&] { call(linear, a, s); }, " and takes rows of 2, but x has rows of 3");
       a.layout = WeightLayout::in_out, a.bias = tensor(w, {3});
       expect_invalid([&] { call(linear, a, s); }, ", but weight has 2 outputs");
     }},
};

}  // namespace

extern constinit const Oracle<LinearArgs> linear_oracle{linear, expected, facts};

}  // namespace kolmo::check
