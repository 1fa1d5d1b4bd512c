#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/dynamics/order_parameter/order_parameter.hpp"

namespace kolmo::check {
namespace {
using A = OrderParameterArgs;

void expected(const A& a) {
  const std::int64_t n = a.theta.dim(-1);
  for (std::int64_t row = 0; row < a.r.size(); ++row) {
    std::complex<long double> sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::polar(1.0L, get(a.theta, row * n + i));
    put(a.r, row, std::abs(sum) / static_cast<long double>(n));
    put(a.psi, row, std::arg(sum));
  }
}

std::complex<double> order(std::vector<double> theta, Stream& s) {
  double r = -1, psi = -1;
  call(order_parameter,
       {.theta = tensor(theta.data(), {std::int64_t(theta.size())}),
        .r = tensor(&r, {}),
        .psi = tensor(&psi, {})},
       s);
  return {r, psi};
}

constexpr Fact facts[] = {
    {"equal phases: r = 1 and psi is the phase",
     [](Stream& s) {
       const auto z = order(std::vector<double>(100, 2.5), s);
       expect_near(z.real(), 1, 1e-15, "r"), expect_near(z.imag(), 2.5, 1e-15, "psi");
     }},
    {"0 and pi/2: r = 1/sqrt 2, psi = pi/4; opposite phases cancel",
     [](Stream& s) {
       const auto z = order({0, std::numbers::pi / 2}, s);
       expect_near(z.real(), std::numbers::sqrt2 / 2, 1e-15, "r");
       expect_near(z.imag(), std::numbers::pi / 4, 1e-15, "psi");
       expect(order({1, 1 + std::numbers::pi}, s).real() < 1e-15, "opposite");
     }},
    {"no phases, or one that is infinite, give NaN",
     [](Stream& s) {
       const auto none = order({}, s), infinite = order({0, INFINITY}, s);
       expect(std::isnan(none.real()) && std::isnan(none.imag()), "none");
       expect(std::isnan(infinite.real()) && std::isnan(infinite.imag()), "infinite");
     }},
};

}  // namespace

extern constinit const Oracle<A> order_parameter_oracle{order_parameter, expected, facts};

}  // namespace kolmo::check
