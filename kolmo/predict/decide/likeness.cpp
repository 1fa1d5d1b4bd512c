#include "kolmo/predict/decide/likeness.hpp"

#include <algorithm>
#include <bit>

namespace kolmo::predict {
namespace {

constexpr double level = .95, most_above = .2;
constexpr std::size_t first_stage = 10, fewest = 20;

std::size_t stage_of(std::size_t seen) {
  return std::size_t(std::bit_width(std::max<std::size_t>(seen / first_stage, 1))) - 1;
}

}  // namespace

Likeness::Likeness(std::span<const SpreadAt> of_store) {
  std::vector<std::vector<double>> stages;
  for (const SpreadAt& s : of_store) {
    stages.resize(std::max(stages.size(), stage_of(s.seen) + 1));
    stages[stage_of(s.seen)].push_back(s.spread);
  }
  for (std::vector<double>& spreads : stages) {
    if (spreads.size() < fewest && limits_.empty()) return;
    if (spreads.size() < fewest) {
      limits_.push_back(limits_.back());
      continue;
    }
    const auto at = spreads.begin() + std::ptrdiff_t(level * double(spreads.size() - 1));
    std::nth_element(spreads.begin(), at, spreads.end());
    limits_.push_back(*at);
  }
}

Likeness Likeness::of_limits(std::vector<double> limits) {
  Likeness likeness;
  likeness.limits_ = std::move(limits);
  return likeness;
}

bool Likeness::unlike(std::span<const SpreadAt> of_training) const {
  if (limits_.empty()) return false;
  const auto above = std::count_if(of_training.begin(), of_training.end(), [&](const SpreadAt& s) {
    return s.spread > limits_[std::min(stage_of(s.seen), limits_.size() - 1)];
  });
  return double(above) > most_above * double(of_training.size());
}

}  // namespace kolmo::predict
