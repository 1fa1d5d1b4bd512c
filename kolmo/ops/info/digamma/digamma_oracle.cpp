#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <limits>

#include "kolmo/check/reference.hpp"
#include "kolmo/ops/info/digamma/digamma.hpp"

namespace kolmo::check {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double psi(double x, Stream& s) {
  double y = 0;
  call(digamma, {.x = tensor(&x, {1}), .y = tensor(&y, {1})}, s);
  return y;
}

constexpr Fact facts[] = {
    {"psi(1) = -gamma, psi(1/2) = -gamma - 2 ln 2, psi(n + 1) = psi(n) + 1/n",
     [](Stream& s) {
       constexpr double gamma = 0.57721566490153286061;
       expect_near(psi(1, s), -gamma, 2e-16, "psi(1)");
       expect_near(psi(0.5, s), -gamma - 2 * std::log(2.0), 8e-16, "psi(1/2)");
       double harmonic = 0;
       for (int n = 1; n < 60; ++n) {
         expect_near(psi(n, s), harmonic - gamma, 2e-15, "psi(" + std::to_string(n) + ")");
         harmonic += 1.0 / n;
       }
     }},
    {"relative accuracy near the zero 1.4616...",
     [](Stream& s) {
       const double x = 1.461632144968362;
       const auto want = double(boost::math::digamma(static_cast<long double>(x)));
       expect(std::abs(psi(x, s) / want - 1) < 2e-15, "psi near its zero");
     }},
    {"reflection: psi(1 - x) - psi(x) = pi cot(pi x); psi(-1/2) = psi(3/2)",
     [](Stream& s) {
       expect_near(psi(-0.5, s), psi(1.5, s), 2e-15, "psi(-1/2)");
       expect_near(psi(1.25, s) - psi(-0.25, s), -std::acos(-1.0), 8e-15, "psi(5/4) - psi(-1/4)");
     }},
    {"poles and limits",
     [](Stream& s) {
       for (const double x : {0.0, -0.0, -1.0, -2.0, -1e9, -1e300, -infinity, std::nan("")})
         expect(std::isnan(psi(x, s)), "psi(" + std::to_string(x) + ") must be NaN");
       expect(psi(infinity, s) == infinity, "psi(inf)");
       expect(psi(5e-324, s) == -infinity, "psi of the smallest number");
       expect_near(psi(1e-300, s), -1e300, 1e-15, "psi(1e-300)");
       expect_near(psi(-1e-300, s), 1e300, 1e-15, "psi(-1e-300)");
     }},
    {"in place, f32",
     [](Stream& s) {
       float x[] = {1, 100, -1};
       call(digamma, {.x = tensor(x, {3}), .y = tensor(x, {3})}, s);
       expect(x[0] == -0.57721566490153286f && x[1] == 4.60016185273443f && std::isnan(x[2]),
              "psi of floats");
     }},
};

}  // namespace

extern constinit const Oracle<DigammaArgs> digamma_oracle{
    digamma, per_element<[](auto x) { return boost::math::digamma(x); }, &DigammaArgs::y, &DigammaArgs::x>,
    facts};

}  // namespace kolmo::check
