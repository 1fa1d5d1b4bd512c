#include <cmath>
#include <vector>

#include "kolmo/check/reference.hpp"
#include "kolmo/ops/dense/dot_product/dot_product.hpp"

namespace kolmo::check {
namespace {

constexpr Fact facts[] = {
    {"(1, 2, 3) (4, 5, 6) = 32, and orthogonal vectors",
     [](Stream& s) {
       double x[] = {1, 2, 3, 1, 0, -1}, y[] = {4, 5, 6, 2, 9, 2}, dot[2] = {7, 7};
       call(dot_product, {.x = tensor(x, {2, 3}), .y = tensor(y, {2, 3}), .dot = tensor(dot, {2})}, s);
       expect(dot[0] == 32 && dot[1] == 0, "wrong products");
     }},
    {"f32 products are exact: x^2 - (x^2 rounded) is the rounding error",
     [](Stream& s) {
       const float v = 1 + 0x1p-12f, square = v * v;
       float x[] = {v, square}, y[] = {v, -1}, dot = 7;
       call(dot_product, {.x = tensor(x, {2}), .y = tensor(y, {2}), .dot = tensor(&dot, {})}, s);
       expect(dot == 0x1p-24f, "products were rounded to float");
     }},
    {"an empty row gives 0",
     [](Stream& s) {
       float x[1] = {}, y[1] = {}, dot[3] = {7, 7, 7};
       call(dot_product, {.x = tensor(x, {3, 0}), .y = tensor(y, {3, 0}), .dot = tensor(dot, {3})}, s);
       expect(dot[0] == 0 && dot[2] == 0, "not 0");
     }},
    {"different lengths are refused",
     [](Stream& s) {
       double x[2] = {}, y[3] = {}, dot;
       expect_invalid(
           [&] { call(dot_product, {.x = tensor(x, {2}), .y = tensor(y, {3}), .dot = tensor(&dot, {})}, s); },
           "dot_product: y is (3) f64");
     }},
};

}  // namespace

extern constinit const Oracle<DotProductArgs> dot_product_oracle{
    dot_product,
    per_row<[](auto x, auto y) { return x * y; }, &DotProductArgs::dot, &DotProductArgs::x,
            &DotProductArgs::y>,
    facts};

}  // namespace kolmo::check
