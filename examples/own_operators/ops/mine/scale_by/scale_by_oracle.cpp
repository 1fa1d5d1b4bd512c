#include "kolmo/check/oracle.hpp"
#include "mine/scale_by/scale_by.hpp"

namespace kolmo::check {
namespace {

void products(const ScaleByArgs& a) {
  for (std::int64_t i = 0; i < a.y.size(); ++i) put(a.y, i, static_cast<long double>(a.factor) * get(a.x, i));
}
void quotients(const ScaleByArgs& a) {
  for (std::int64_t i = 0; i < a.y.size(); ++i) put(a.y, i, get(a.x, i) / static_cast<long double>(a.factor));
}

constexpr Fact facts[] = {
    {"3 x 1.5 = 4.5",
     [](Stream& s) {
       double x[] = {1.5}, y[] = {0};
       call(scale_by, {.x = tensor(x, {1}), .y = tensor(y, {1}), .factor = 3}, s);
       expect(y[0] == 4.5, "wrong product");
     }},
};

}  // namespace

extern constinit const Oracle<ScaleByArgs> scale_by_oracle{scale_by, products, facts};
extern constinit const Oracle<ScaleByArgs> divide_by_oracle{divide_by, quotients};

}  // namespace kolmo::check
