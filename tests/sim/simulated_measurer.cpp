#include "tests/sim/simulated_measurer.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kolmo/base/error.hpp"
#include "kolmo/base/philox.hpp"

namespace kolmo::tune {
namespace {
constexpr double span = 100e-6;     // minimum seconds of a sample: short calls are grouped
constexpr double overhead = 20e-6;  // seconds for starting and reading a sample
constexpr int warm_up_calls = 3;
}  // namespace

SimulatedMeasurer::SimulatedMeasurer(std::vector<double> seconds, const Noise& noise, std::uint64_t seed)
    : seconds_(std::move(seconds)), noise_(noise), seed_(seed) {}

double SimulatedMeasurer::uniform() {
  const auto words = Philox(seed_)(drawn_++, 0);
  return uniform53(words.w[0], words.w[1]);
}

double SimulatedMeasurer::prepare(std::size_t config) {
  if (seconds_[config] <= 0)
    fail<Unsupported>("simulated: configuration " + std::to_string(config) + " cannot run");
  clock_ += warm_up_calls * seconds_[config] + overhead;
  return seconds_[config];
}

std::optional<double> SimulatedMeasurer::sample(std::size_t config) {
  const double phase = 2 * std::numbers::pi * (clock_ / noise_.period + double(seed_ % 97) / 97);
  const double normal = std::sqrt(-2 * std::log1p(-uniform())) * std::cos(2 * std::numbers::pi * uniform());
  double seconds =
      seconds_[config] * (1 + noise_.drift * std::sin(phase)) * std::exp(noise_.scatter * normal);
  if (uniform() < noise_.outliers) seconds *= 1.2 + 1.8 * uniform();
  clock_ += std::max(1.0, std::ceil(span / seconds)) * seconds + overhead;
  return seconds;
}

double SimulatedMeasurer::best() const {
  double best = INFINITY;
  for (const double s : seconds_)
    if (s > 0) best = std::min(best, s);
  return best;
}
double SimulatedMeasurer::regret(std::size_t config) const { return seconds_[config] / best() - 1; }

}  // namespace kolmo::tune
