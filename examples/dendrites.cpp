// Four nonlinearities that a branch of a dendrite may apply to its synapses.
#include <cmath>

#include "examples/plot.hpp"
#include "kolmo/ops/neurons/dendritic_integration/dendritic_integration.hpp"

int main(int argc, char** argv) {
  using example::Numbers;
  using kolmo::Dendrite;
  constexpr std::int64_t points = 121;
  kolmo::Stream stream;
  const struct {
    kolmo::DendriticIntegrationArgs options;
    double scale;  // scale of the axis
    const char *name, *colour;
  } curves[] = {
      {{.nonlinearity = Dendrite::sigmoid, .threshold = 1, .steepness = 4},
       1,
       "sigmoid, threshold 1",
       "#c0392b"},
      {{.nonlinearity = Dendrite::nmda, .magnesium = 1}, 40, "NMDA current / 40, drive x 40 mV", "#2471a3"},
      {{.nonlinearity = Dendrite::back_propagation, .threshold = 1, .gain = 1},
       1,
       "back-propagating spike above 1",
       "#229954"},
      {{.nonlinearity = Dendrite::multiplicative, .saturation = 1.5},
       1,
       "multiplicative, saturation 1.5",
       "#b9770e"}};
  example::Plot plot("Responses of a dendritic branch", "drive", "output", {-2, 2}, {-2, 3});
  double at_threshold = 0, blocked = 0;
  for (const auto& curve : curves) {
    Numbers x, drive, weight{0.5, 0.5}, soma(points);
    for (std::int64_t i = 0; i < points; ++i) {
      x.push_back(-2 + 4 * double(i) / (points - 1));
      drive.insert(drive.end(), 2, x.back() * curve.scale);  // two synapses with the same activity
    }
    kolmo::DendriticIntegrationArgs a = curve.options;
    a.input = kolmo::tensor(drive.data(), {points, 1, 2}),
    a.weights = kolmo::tensor(weight.data(), {1, 1, 2});
    a.soma = kolmo::tensor(soma.data(), {points, 1});
    kolmo::dendritic_integration(a, stream);
    if (a.nonlinearity == Dendrite::sigmoid) at_threshold = soma[90];
    if (a.nonlinearity == Dendrite::nmda) {
      blocked = soma[0] / soma[45];  // at -80 mV magnesium blocks the current that flows at -20 mV
      for (double& y : soma) y /= 40;
    }
    plot.line(x, soma, curve.name, curve.colour);
  }
  std::printf("sigmoid at its threshold: %.3f; NMDA current at -80 mV over that at -20 mV: %.3f\n",
              at_threshold, blocked);
  plot.save(argc > 1 ? argv[1] : nullptr);
  return std::abs(at_threshold - 0.5) < 1e-12 && blocked < 0.2 ? 0 : 1;
}
