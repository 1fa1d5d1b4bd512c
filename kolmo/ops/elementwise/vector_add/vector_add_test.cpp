#include "kolmo/ops/elementwise/vector_add/vector_add.hpp"

#include "kolmo/check/oracle.hpp"

namespace kolmo::check {
namespace {

void expected(const VectorAddArgs& a) {
  for (std::int64_t i = 0; i < a.z.size(); ++i) put(a.z, i, get(a.x, i) + get(a.y, i));
}

constexpr Fact facts[] = {
    {"1 + 2 = 3, -0.5 + 0.5 = 0",
     [](Stream& s) {
       double x[] = {1, -0.5}, y[] = {2, 0.5}, z[] = {0, 1};
       call(vector_add, {.x = tensor(x, {2}), .y = tensor(y, {2}), .z = tensor(z, {2})}, s);
       expect(z[0] == 3 && z[1] == 0, "wrong sums");
     }},
    {"in place",
     [](Stream& s) {
       float x[] = {1, 2}, y[] = {10, 20};
       call(vector_add, {.x = tensor(x, {2}), .y = tensor(y, {2}), .z = tensor(x, {2})}, s);
       expect(x[0] == 11 && x[1] == 22, "wrong sums in place");
     }},
    {"different shapes are refused",
     [](Stream& s) {
       double x[2] = {}, y[3] = {}, z[2];
       expect_invalid(
           [&] { call(vector_add, {.x = tensor(x, {2}), .y = tensor(y, {3}), .z = tensor(z, {2})}, s); },
           "vector_add: y is (3) f64 on ");
     }},
};

}  // namespace

extern constinit const Oracle<VectorAddArgs> vector_add_oracle{vector_add, expected, facts};

}  // namespace kolmo::check
