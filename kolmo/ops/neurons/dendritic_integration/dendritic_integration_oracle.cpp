#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/neurons/dendritic_integration/dendritic_integration.hpp"

namespace kolmo::check {
namespace {
using A = DendriticIntegrationArgs;

void expected(const A& a) {
  const std::int64_t n = a.weights.dim(0), branches = a.weights.dim(1), inputs = a.weights.dim(2);
  for (std::int64_t item = 0; item < a.soma.size(); ++item) {
    std::vector<long double> sum(std::size_t(branches), 0), product(std::size_t(branches), 1);
    long double all = 0, soma = 0;
    for (std::int64_t b = 0; b < branches; ++b)
      for (std::int64_t i = 0; i < inputs; ++i) {
        const long double term = get(a.weights, (item % n * branches + b) * inputs + i) *
                                 get(a.input, (item / n * branches + b) * inputs + i);
        sum[std::size_t(b)] += term, all += term, product[std::size_t(b)] *= 1 + term;
      }
    for (std::int64_t b = 0; b < branches; ++b) {
      const long double v = sum[std::size_t(b)];
      long double y = 0;
      if (a.nonlinearity == Dendrite::sigmoid)
        y = (1 + std::tanh(a.steepness * (v - a.threshold) / 2)) / 2;
      else if (a.nonlinearity == Dendrite::nmda)
        y = (a.reversal - v) / (1 + std::exp(-0.062L * v) * a.magnesium / 3.57L);
      else if (a.nonlinearity == Dendrite::back_propagation)
        y = v + (all > a.threshold
                     ? a.gain * std::exp(-static_cast<long double>(a.decay) * b) * (all - a.threshold)
                     : 0);
      else
        y = a.saturation * std::tanh((product[std::size_t(b)] - 1) / a.saturation);
      if (a.branches.given()) put(a.branches, item * branches + b, y);
      soma += y;
    }
    put(a.soma, item, soma);
  }
}

double soma(std::vector<double> x, std::vector<double> w, std::int64_t branches, A a, Stream& s) {
  double y = -1;
  const auto inputs = std::int64_t(x.size()) / branches;
  a.input = tensor(x.data(), {branches, inputs}), a.weights = tensor(w.data(), {1, branches, inputs});
  a.soma = tensor(&y, {1});
  call(dendritic_integration, a, s);
  return y;
}

constexpr Fact facts[] = {
    {"sigmoid at its threshold is 1/2 a branch, and its slope there is steepness / 4",
     [](Stream& s) {
       expect_near(soma({1, 2, 3, 0}, {1, 1, 1, 5}, 2, {.threshold = 3}, s), 1, 1e-15, "at threshold");
       const A steep{.threshold = 1, .steepness = 8};
       expect_near((soma({1.0001}, {1}, 1, steep, s) - soma({0.9999}, {1}, 1, steep, s)) / 0.0002, 2, 1e-6,
                   "slope");
     }},
    {"nmda: no current at the reversal potential, more block with more magnesium or less potential",
     [](Stream& s) {
       const auto current = [&](double v, double mg) {
         return soma({v}, {1}, 1, {.nonlinearity = Dendrite::nmda, .magnesium = mg}, s);
       };
       expect(current(0, 1) == 0, "at 0 mV");
       expect_near(current(-70, 0), 70, 1e-15, "without magnesium");
       expect_near(current(-70, 1), 70 / (1 + std::exp(4.34) / 3.57), 1e-14, "Jahr-Stevens");
       expect(current(-20, 1) > current(-70, 1), "a region of negative slope conductance");
     }},
    {"a spike at the soma comes back to branch b with gain e^(-decay b), and only above the threshold",
     [](Stream& s) {
       const A a{
           .nonlinearity = Dendrite::back_propagation, .threshold = 2, .gain = 3, .decay = std::log(2.0)};
       expect_near(soma({1, 4}, {1, 1}, 2, a, s), 5 + 3 * 3 * 1.5, 1e-14, "above");
       expect(soma({1, 1}, {1, 1}, 2, a, s) == 2, "at the threshold");
     }},
    {"multiplicative: (1 + 1)(1 + 2) - 1 = 5 before saturation",
     [](Stream& s) {
       const auto y = [&](double saturation) {
         return soma({1, 1}, {1, 2}, 1, {.nonlinearity = Dendrite::multiplicative, .saturation = saturation},
                     s);
       };
       expect_near(y(1e9), 5, 1e-15, "linear"), expect_near(y(2), 2 * std::tanh(2.5), 1e-15, "saturated");
     }},
};

}  // namespace

extern constinit const Oracle<A> dendritic_integration_oracle{dendritic_integration, expected, facts};

}  // namespace kolmo::check
