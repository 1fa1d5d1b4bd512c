#include <cmath>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/training/adamw_step/adamw_step.hpp"

namespace kolmo::check {
namespace {
using A = AdamwStepArgs;

/// Corrects the moments themselves, as the paper does.
void expected(const A& a) {
  const auto number = [](double v) { return static_cast<long double>(v); };
  const long double t = static_cast<long double>(a.step), beta1 = number(a.beta1), beta2 = number(a.beta2);
  for (std::int64_t i = 0; i < a.parameters.size(); ++i) {
    const long double g = get(a.gradient, i), m = beta1 * get(a.first_moment, i) + (1 - beta1) * g,
                      v = beta2 * get(a.second_moment, i) + (1 - beta2) * g * g,
                      mean = m / (1 - std::pow(beta1, t)), square = v / (1 - std::pow(beta2, t)),
                      w = get(a.parameters, i);
    put(a.first_moment, i, m), put(a.second_moment, i, v);
    put(a.parameters, i,
        w - number(a.rate) * (mean / (std::sqrt(square) + number(a.epsilon)) + number(a.weight_decay) * w));
  }
}

struct One {
  double g = 0, w = 1, m = 0, v = 0;
  void step(A a, Stream& s) {
    a.gradient = tensor(&g, {1}), a.parameters = tensor(&w, {1});
    a.first_moment = tensor(&m, {1}), a.second_moment = tensor(&v, {1});
    call(adamw_step, a, s);
  }
};

constexpr Fact facts[] = {
    {"the first step is the rate times the sign of the gradient",
     [](Stream& s) {
       for (const double g : {1e-3, -5.0, 700.0}) {
         One one{.g = g};
         one.step({.rate = 0.25, .epsilon = 0, .weight_decay = 0}, s);
         expect_near(one.w, g > 0 ? 0.75 : 1.25, 1e-15, "w");
         expect_near(one.m, 0.1 * g, 1e-15 * std::abs(g), "m");
         expect_near(one.v, 0.001 * g * g, 1e-16 * g * g, "v");
       }
     }},
    {"two steps by hand: g = 1, then g = -1, with both betas 1/2",
     [](Stream& s) {
       One one{.g = 1};
       A a{.rate = 0.5, .beta1 = 0.5, .beta2 = 0.5, .epsilon = 0, .weight_decay = 0};
       one.step(a, s);
       expect(one.w == 0.5 && one.m == 0.5 && one.v == 0.5, "first step");
       one.g = -1, a.step = 2;  // m = -1/4, v = 3/4, corrected by 3/4: -1/3 and 1
       one.step(a, s);
       expect_near(one.w, 0.5 + 0.5 / 3, 1e-15, "w");
       expect(one.m == -0.25 && one.v == 0.75, "moments");
     }},
    {"without a gradient the weight decays by rate times weight_decay",
     [](Stream& s) {
       One one;
       one.step({.rate = 0.5, .weight_decay = 0.25}, s);
       expect(one.w == 0.875 && one.m == 0 && one.v == 0, "decay");
     }},
    {"a beta of 1 is refused",
     [](Stream& s) {
       expect_invalid([&] { One().step({.beta1 = 1}, s); }, "adamw_step: beta1 and beta2 must be below 1");
     }},
};

}  // namespace

extern constinit const Oracle<A> adamw_step_oracle{adamw_step, expected, facts};

}  // namespace kolmo::check
