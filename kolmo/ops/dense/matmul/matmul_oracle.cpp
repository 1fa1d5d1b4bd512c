#include <cmath>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"

namespace kolmo::check {
namespace {

long double activated(Activation f, long double x) {
  const long double pi = 3.141592653589793238462643383279502884L;
  if (f == Activation::relu) return x > 0 ? x : 0;
  if (f == Activation::gelu) return x * (1 + std::erf(x / std::sqrt(2.0L))) / 2;
  if (f == Activation::gelu_tanh)
    return x / 2 * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715L * x * x * x)));
  return x;
}

void expected(const MatmulArgs& x) {
  const int d = x.y.rank;
  const std::int64_t m = x.y.extent[std::size_t(d - 2)], n = x.y.extent[std::size_t(d - 1)];
  const std::int64_t k = x.a.extent[std::size_t(x.transpose_a ? d - 2 : d - 1)];
  for (std::int64_t i = 0; i < x.y.size(); ++i) {
    const std::int64_t entry = i / (m * n), row = i / n % m, column = i % n;
    long double sum = 0;
    for (std::int64_t l = 0; l < k; ++l)
      sum += get(x.a, entry * m * k + (x.transpose_a ? l * m + row : row * k + l)) *
             get(x.b, entry * k * n + (x.transpose_b ? column * k + l : l * n + column));
    sum *= static_cast<long double>(x.alpha);
    if (x.c.given()) sum += static_cast<long double>(x.beta) * get(x.c, i);
    if (x.bias.given()) sum += get(x.bias, column);
    put(x.y, i, activated(x.activation, sum));
  }
}

constexpr Fact facts[] = {
    {"(1 2; 3 4) (5 6; 7 8) = (19 22; 43 50)",
     [](Stream& s) {
       float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, y[4] = {};
       call(matmul, {.a = tensor(a, {2, 2}), .b = tensor(b, {2, 2}), .y = tensor(y, {2, 2})}, s);
       expect(y[0] == 19 && y[1] == 22 && y[2] == 43 && y[3] == 50, "wrong product");
     }},
    {"(1 3; 2 4)^T (5 7; 6 8)^T is the same",
     [](Stream& s) {
       double a[] = {1, 3, 2, 4}, b[] = {5, 7, 6, 8}, y[4] = {};
       call(matmul,
            {.a = tensor(a, {2, 2}),
             .b = tensor(b, {2, 2}),
             .y = tensor(y, {2, 2}),
             .transpose_a = true,
             .transpose_b = true},
            s);
       expect(y[0] == 19 && y[1] == 22 && y[2] == 43 && y[3] == 50, "wrong product");
     }},
    {"k = 0: y = relu(2 c + bias)",
     [](Stream& s) {
       float nothing = 0, c[] = {1, -2}, bias[] = {0.5, 1}, y[2] = {};
       call(matmul,
            {.a = tensor(&nothing, {1, 0}),
             .b = tensor(&nothing, {0, 2}),
             .c = tensor(c, {1, 2}),
             .bias = tensor(bias, {2}),
             .y = tensor(y, {1, 2}),
             .beta = 2,
             .activation = Activation::relu},
            s);
       expect(y[0] == 2.5f && y[1] == 0, "wrong sum");
     }},
    {"alpha = 0 and beta = 0 hide NaN",
     [](Stream& s) {
       const double nan = std::nan("");
       double a[] = {nan}, b[] = {1}, c[] = {nan}, y[] = {nan};
       MatmulArgs x{.a = tensor(a, {1, 1}),
                    .b = tensor(b, {1, 1}),
                    .c = tensor(c, {1, 1}),
                    .y = tensor(y, {1, 1}),
                    .alpha = 0,
                    .beta = 0};
       call(matmul, x, s);
       expect(y[0] == 0, "a factor of 0 did not hide NaN");
       c[0] = 3, x.beta = 1;
       call(matmul, x, s);
       expect(y[0] == 3, "y is not c");
     }},
    {"f16: 2048 products of 1 sum to 2048, and 4096 of 32 beyond f16 to f32",
     [](Stream& s) {
       std::vector<Half> a(4096, Half(1.0f)), b(4096, Half(1.0f));
       Half y[1];
       call(matmul,
            {.a = tensor(a.data(), {1, 2048}), .b = tensor(b.data(), {2048, 1}), .y = tensor(y, {1, 1})}, s);
       expect(float(y[0]) == 2048, "wrong sum of f16");
       for (Half& v : a) v = 32.0f;
       float wide[1];
       call(matmul,
            {.a = tensor(a.data(), {1, 4096}),
             .b = tensor(b.data(), {4096, 1}),
             .y = tensor(wide, {1, 1}),
             .output = MatmulOutput::f32},
            s);
       expect(wide[0] == 131072, "wrong sum in f32");
     }},
    {"y may be c, and nothing else",
     [](Stream& s) {
       float a[] = {2}, b[] = {3}, c[] = {4};
       call(matmul,
            {.a = tensor(a, {1, 1}), .b = tensor(b, {1, 1}), .c = tensor(c, {1, 1}), .y = tensor(c, {1, 1})},
            s);
       expect(c[0] == 10, "wrong sum in place");
     }},
    {"wrong sizes are refused",
     [](Stream& s) {
       float a[12] = {}, b[12] = {}, y[12] = {};
       const auto refused = [&](const MatmulArgs& x, const char* message) {
         expect_invalid([&] { call(matmul, x, s); }, message);
       };
       refused({.a = tensor(a, {2, 3}), .b = tensor(b, {2, 3}), .y = tensor(y, {2, 3})},
               ": the inner sizes 3 and 2 differ");
       refused({.a = tensor(a, {2, 2, 3}), .b = tensor(b, {1, 3, 2}), .y = tensor(y, {2, 2, 2})},
               "matmul: b is (1, 3, 2) f32 on ");
       refused(
           {.a = tensor(a, {2, 3}), .b = tensor(b, {3, 2}), .c = tensor(b, {2, 3}), .y = tensor(y, {2, 2})},
           "the product has 2 rows and 2 columns");
       refused(
           {.a = tensor(a, {2, 3}), .b = tensor(b, {3, 2}), .bias = tensor(b, {3}), .y = tensor(y, {2, 2})},
           "bias is (3) f32 on ");
       double d[1] = {};
       refused({.a = tensor(d, {1, 1}),
                .b = tensor(d, {1, 1}),
                .y = tensor(y, {1, 1}),
                .output = MatmulOutput::f32},
               "output is f32 and the inputs are f64");
     }},
};

}  // namespace

extern constinit const Oracle<MatmulArgs> matmul_oracle{matmul, expected, facts};

}  // namespace kolmo::check
