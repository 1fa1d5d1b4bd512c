#include "kolmo/check/reference.hpp"
#include "kolmo/ops/elementwise/binary/binary.hpp"

namespace kolmo::check {
namespace {

using A = BinaryArgs;

constexpr Fact facts[] = {
    {"1 + 2 = 3, -0.5 + 0.5 = 0, and in place",
     [](Stream& s) {
       double x[] = {1, -0.5}, y[] = {2, 0.5}, z[] = {0, 1};
       call(vector_add, {.x = tensor(x, {2}), .y = tensor(y, {2}), .z = tensor(z, {2})}, s);
       expect(z[0] == 3 && z[1] == 0, "wrong sums");
       call(vector_add, {.x = tensor(x, {2}), .y = tensor(y, {2}), .z = tensor(x, {2})}, s);
       expect(x[0] == 3 && x[1] == 0, "wrong sums in place");
     }},
    {"a column and a row make a table, and one number goes with everything",
     [](Stream& s) {
       float x[] = {1, 2}, y[] = {10, 20, 30}, z[6] = {};
       call(vector_add, {.x = tensor(x, {2, 1}), .y = tensor(y, {3}), .z = tensor(z, {2, 3})}, s);
       expect(z[0] == 11 && z[2] == 31 && z[3] == 12 && z[5] == 32, "wrong table");
       call(vector_add, {.x = tensor(y, {3}), .y = tensor(x, {}), .z = tensor(z, {3})}, s);
       expect(z[0] == 11 && z[2] == 31, "wrong sums with a number");
     }},
    {"shapes that do not broadcast are refused",
     [](Stream& s) {
       double x[2] = {}, y[3] = {}, z[2];
       expect_invalid(
           [&] { call(vector_add, {.x = tensor(x, {2}), .y = tensor(y, {3}), .z = tensor(z, {2})}, s); },
           "vector_add: y is (3) f64 on ");
     }},
};
constexpr Fact product_facts[] = {
    {"2 times -0.5 = -1",
     [](Stream& s) {
       double x = 2, y = -0.5, z = 0;
       call(elementwise_multiply, {.x = tensor(&x, {}), .y = tensor(&y, {}), .z = tensor(&z, {})}, s);
       expect(z == -1, "wrong product");
     }},
};

}  // namespace

extern constinit const Oracle<A> vector_add_oracle{
    vector_add, per_element<[](auto x, auto y) { return x + y; }, &A::z, &A::x, &A::y>, facts};
extern constinit const Oracle<A> elementwise_multiply_oracle{
    elementwise_multiply, per_element<[](auto x, auto y) { return x * y; }, &A::z, &A::x, &A::y>,
    product_facts};

}  // namespace kolmo::check
