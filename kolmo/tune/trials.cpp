#include "kolmo/tune/trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kolmo/tune/cannot_run.hpp"

namespace kolmo::tune {

Trials::Trials(Measurer& measurer, std::size_t configs)
    : measurer_(measurer),
      start_(measurer.spent()),
      times_(configs),
      errors_(configs),
      prepared_(configs),
      held_back_(configs) {}

bool Trials::measured(std::size_t config) const {
  return std::any_of(times_[config].begin(), times_[config].end(), [](double t) { return std::isfinite(t); });
}

void Trials::sample(std::size_t config) {
  if (held_back_[config] || !errors_[config].empty()) return;
  errors_[config] = why_it_cannot_run([&] {
    if (!prepared_[config]) measurer_.prepare(config);
    prepared_[config] = true;
    const std::optional<double> seconds = measurer_.sample(config);
    ++samples_;
    if (!seconds) {
      ++discarded_;
      return;
    }
    times_[config].resize(rounds_, std::numeric_limits<double>::quiet_NaN());
    times_[config].push_back(*seconds);
  });
}

bool Trials::round(std::span<const std::size_t> configs) {
  for (std::size_t i = 0; i < configs.size(); ++i) {
    if (exhausted()) break;
    sample(configs[(i + rounds_) % configs.size()]);
  }
  ++rounds_;
  return !exhausted();
}

std::vector<std::size_t> Trials::ranked(std::size_t reference) const {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t c = 0; c < times_.size(); ++c) {
    if (!measured(c) || !errors_[c].empty()) continue;
    const Ratio r = paired_ratio(times_[c], times_[reference]);
    if (r.pairs) order.emplace_back(r.median, c);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> configs;
  for (const auto& [ratio, c] : order) configs.push_back(c);
  return configs;
}

}  // namespace kolmo::tune
