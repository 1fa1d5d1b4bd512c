#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "kolmo/check/reference.hpp"
#include "kolmo/ops/elementwise/unary/unary.hpp"

namespace kolmo::check {
namespace {
using A = UnaryArgs;

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T, class Args = A>
std::vector<T> values(const Op<Args>& op, std::vector<T> x, Stream& s) {
  const auto n = std::int64_t(x.size());
  std::vector<T> y(x.size(), T(7.0f));
  Args a;
  a.x = tensor(x.data(), {n}), a.y = tensor(y.data(), {n});
  call(op, a, s);
  return y;
}

void expected_gelu(const GeluArgs& a) {
  constexpr long double pi = std::numbers::pi_v<long double>;
  for (std::int64_t i = 0; i < a.y.size(); ++i) {
    const long double x = get(a.x, i);
    put(a.y, i,
        a.form == GeluForm::erf ? x * std::erfc(-x / std::sqrt(2.0L)) / 2
                                : x / (1 + std::exp(-2 * std::sqrt(2 / pi) * (x + 0.044715L * x * x * x))));
  }
}

constexpr Fact exp_facts[] = {
    {"e^0 = 1, e^ln2 = 2, and in place",
     [](Stream& s) {
       double x[] = {0, std::log(2.0)};
       call(elementwise_exp, {.x = tensor(x, {2}), .y = tensor(x, {2})}, s);
       expect(x[0] == 1, "e^0");
       expect_near(x[1], 2, 0x1p-51, "e^ln 2");
     }},
    {"the ends of the range: inf, 0, subnormal numbers, NaN",
     [](Stream& s) {
       const auto y = values<double>(
           elementwise_exp, {infinity, -infinity, 709.7, 709.8, -744.5, -746, std::nan(""), 1e308}, s);
       expect(y[0] == infinity && y[1] == 0 && y[3] == infinity && y[5] == 0 && y[7] == infinity, "f64");
       expect(std::abs(y[2] / std::exp(709.7) - 1) < 0x1p-50, "e^709.7");
       expect(y[4] == 0x1p-1074, "e^-744.5 is the smallest number");
       expect(std::isnan(y[6]), "NaN");
       const auto f = values<float>(elementwise_exp, {88.7f, 88.8f, -103.3f, -104.5f, 3e38f}, s);
       expect(f[0] < infinity && f[1] == infinity && f[2] == 0x1p-149f && f[3] == 0 && f[4] == infinity,
              "f32");
     }},
};
constexpr Fact relu_facts[] = {
    {"-1, -0, 2, inf, -inf and NaN",
     [](Stream& s) {
       const auto y = values<float>(relu, {-1, -0.0f, 2, INFINITY, -INFINITY, NAN}, s);
       expect(y[0] == 0 && y[1] == 0 && y[2] == 2 && y[3] == INFINITY && y[4] == 0 && std::isnan(y[5]),
              "wrong");
     }},
};
constexpr Fact sigmoid_facts[] = {
    {"sigmoid(0) = 1/2 and sigmoid(ln 3) = 3/4",
     [](Stream& s) {
       const auto y = values<double>(sigmoid, {0, std::log(3.0), -std::log(3.0)}, s);
       expect(y[0] == 0.5, "at 0");
       expect_near(y[1], 0.75, 0x1p-51, "at ln 3");
       expect_near(y[2], 0.25, 0x1p-51, "at -ln 3");
     }},
    {"no overflow far out, digits kept far below 0, NaN stays",
     [](Stream& s) {
       const auto y = values<float>(sigmoid, {1e30f, -1e30f, INFINITY, -INFINITY, -80, NAN}, s);
       expect(y[0] == 1 && y[1] == 0 && y[2] == 1 && y[3] == 0 && std::isnan(y[5]), "ends");
       expect(std::abs(double(y[4]) / std::exp(-80.0) - 1) < 1e-6, "e^-80");
     }},
};
constexpr Fact tanh_facts[] = {
    {"tanh(ln 2) = 3/5; odd; 1 far out; x near 0",
     [](Stream& s) {
       const auto y =
           values<double>(tanh, {std::log(2.0), -std::log(2.0), 1e-9, 50, -1e300, infinity, std::nan("")}, s);
       expect_near(y[0], 0.6, 0x1p-51, "tanh(ln 2)");
       expect(y[1] == -y[0], "not odd");
       expect(std::abs(y[2] / 1e-9 - 1) < 0x1p-50, "near 0");
       expect(y[3] == 1 && y[4] == -1 && y[5] == 1 && std::isnan(y[6]), "ends");
     }},
};
constexpr Fact gelu_facts[] = {
    {"gelu(1) = Phi(1), gelu(-1) = -Phi(-1), gelu(x) - gelu(-x) = x",
     [](Stream& s) {
       const auto y = values<double>(gelu, {0, 1, -1, 3, -3}, s);
       expect(y[0] == 0, "gelu(0)");
       expect_near(y[1], 0.8413447460685429, 0x1p-50, "gelu(1)");
       expect_near(y[2], -0.15865525393145705, 0x1p-50, "gelu(-1)");
       expect_near(y[3] - y[4], 3, 0x1p-49, "gelu(3) - gelu(-3)");
     }},
    {"digits are kept far below 0, nothing is lost far above",
     [](Stream& s) {
       const auto y = values<double>(gelu, {-8, 1e300, -1e300, infinity, std::nan("")}, s);
       expect_near(y[0] * 1e14, -0.49767684594174, 1e-12, "-8 Phi(-8) 10^14");
       expect(y[1] == 1e300 && y[2] == 0 && y[3] == infinity && std::isnan(y[4]), "ends");
     }},
    {"the form with tanh is within 5e-4",
     [](Stream& s) {
       double x[] = {-3, -1, -0.1, 0.5, 2}, erf[5] = {}, approximate[5] = {};
       call(gelu, {.x = tensor(x, {5}), .y = tensor(erf, {5})}, s);
       call(gelu, {.x = tensor(x, {5}), .y = tensor(approximate, {5}), .form = GeluForm::tanh}, s);
       for (int i = 0; i < 5; ++i)
         expect(erf[i] != approximate[i] && std::abs(erf[i] - approximate[i]) < 5e-4, "too far or the same");
     }},
    {"both forms at the ends",
     [](Stream& s) {
       for (const GeluForm form : {GeluForm::erf, GeluForm::tanh}) {
         double x[] = {-1e308, -1e100, 1e308, infinity, -infinity, std::nan("")}, y[6];
         call(gelu, {.x = tensor(x, {6}), .y = tensor(y, {6}), .form = form}, s);
         expect(y[0] == 0 && y[1] == 0 && y[2] == 1e308 && y[3] == infinity, "f64");
         expect(std::isnan(y[4]) && std::isnan(y[5]), "f64, -inf and NaN");
         float f[] = {-3e38f, -1e10f, 3e38f, INFINITY, -INFINITY, NAN}, g[6];
         call(gelu, {.x = tensor(f, {6}), .y = tensor(g, {6}), .form = form}, s);
         expect(g[0] == 0 && g[1] == 0 && g[2] == 3e38f && g[3] == INFINITY, "f32");
         expect(std::isnan(g[4]) && std::isnan(g[5]), "f32, -inf and NaN");
       }
     }},
};

}  // namespace

extern constinit const Oracle<A> elementwise_exp_oracle{
    elementwise_exp, per_element<[](auto x) { return std::exp(x); }, &A::y, &A::x>, exp_facts};
extern constinit const Oracle<A> relu_oracle{
    relu, per_element<[](auto x) { return x < 0 ? 0 : x; }, &A::y, &A::x>, relu_facts};
extern constinit const Oracle<A> sigmoid_oracle{
    sigmoid, per_element<[](auto x) { return 1 / (1 + std::exp(-x)); }, &A::y, &A::x>, sigmoid_facts};
extern constinit const Oracle<A> tanh_oracle{
    tanh, per_element<[](auto x) { return std::tanh(x); }, &A::y, &A::x>, tanh_facts};
extern constinit const Oracle<GeluArgs> gelu_oracle{gelu, expected_gelu, gelu_facts};

}  // namespace kolmo::check
