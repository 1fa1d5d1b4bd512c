#include "kolmo/flow/test/sequential_test.hpp"

#include <algorithm>

namespace kolmo {

SurrogateRange StoppingRule::first() const { return {0, 1 + (sequential() ? first_part() : most)}; }

SurrogateRange StoppingRule::after(SurrogateRange part) const {
  const std::int64_t next = part.first + part.count, size = part.surrogates();
  return {next, std::clamp<std::int64_t>(1 + most - next, 0, size + size / 2)};
}

void SequentialTest::take(std::span<const double> surrogates, std::int64_t all) {
  const bool sequential = rule_.sequential();
  for (const double s : surrogates) {
    const bool reached = s >= observed_;
    state_.open &= !(sequential && reached && state_.exceedances + 1 == rule_.exceedances);
    if (!state_.open) return;
    state_.exceedances += reached, ++state_.surrogates;
    if (!sequential || kept_.size() < most_described) kept_.push_back(s);
  }
  if (state_.surrogates >= std::min(all, rule_.most)) state_.open = false;
}

double SequentialTest::p_value(PValue convention) const {
  return p_of_counts(state_.exceedances, state_.surrogates, convention);
}

void SequentialTest::resume(const State& state, std::span<const double> kept) {
  state_ = state;
  kept_.insert(kept_.end(), kept.begin(), kept.end());
}

bool may_stop(std::span<const double> p, const std::vector<bool>& open, Correction correction, double alpha) {
  const std::vector<double> adjusted = adjust(p, correction);
  for (std::size_t i = 0; i < p.size(); ++i)
    if (open[i] && adjusted[i] > alpha / 2) return false;
  return true;
}

}  // namespace kolmo
