#include "kolmo/check/reference.hpp"
#include "kolmo/ops/elementwise/broadcast_add/broadcast_add.hpp"

namespace kolmo::check {
namespace {
using A = BroadcastAddArgs;

constexpr Fact facts[] = {
    {"each column of two rows gets its own summand, also in place and for batches",
     [](Stream& s) {
       float x[] = {1, 2, 3, 4, 5, 6}, bias[] = {10, 20, 30};
       call(broadcast_add, {.x = tensor(x, {2, 3}), .bias = tensor(bias, {3}), .y = tensor(x, {2, 3})}, s);
       expect(x[0] == 11 && x[2] == 33 && x[3] == 14 && x[5] == 36, "wrong sums");
       double z[] = {1, 2, 3, 4, 5, 6, 7, 8}, b[] = {0.5, -0.5}, y[8] = {};
       call(broadcast_add, {.x = tensor(z, {2, 2, 2}), .bias = tensor(b, {2}), .y = tensor(y, {2, 2, 2})}, s);
       expect(y[0] == 1.5 && y[1] == 1.5 && y[6] == 7.5 && y[7] == 7.5, "wrong sums of a batch");
     }},
    {"no columns, no rows",
     [](Stream& s) {
       double x[1] = {3}, y[1] = {7};
       call(broadcast_add, {.x = tensor(x, {2, 0}), .bias = tensor(x, {0}), .y = tensor(y, {2, 0})}, s);
       call(broadcast_add, {.x = tensor(x, {0, 1}), .bias = tensor(x, {1}), .y = tensor(y, {0, 1})}, s);
       expect(y[0] == 7, "something was written");
     }},
};

}  // namespace

extern constinit const Oracle<A> broadcast_add_oracle{
    broadcast_add, per_element<[](auto x, auto bias) { return x + bias; }, &A::y, &A::x, &A::bias>, facts};

}  // namespace kolmo::check
