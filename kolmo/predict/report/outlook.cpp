#include <algorithm>

#include "kolmo/predict/report/training_report.hpp"

namespace kolmo::predict {
namespace {

/// The index of the first block that ends at `step` or later; the last one if there is none.
std::size_t block_at(const Forecast& f, std::int64_t step) {
  const auto at = std::lower_bound(f.step.begin(), f.step.end(), step);
  return std::size_t(std::min(at, f.step.end() - 1) - f.step.begin());
}

}  // namespace

const DecayChoice* TrainingOutlook::best() const {
  const auto least =
      std::min_element(decays.begin(), decays.end(),
                       [](const DecayChoice& a, const DecayChoice& b) { return a.loss() < b.loss(); });
  return least != decays.end() && least->loss() < least->held ? &*least : nullptr;
}

TrainingOutlook outlook(const TrainingLog& log, const ForecastRequest& request, const std::string& file) {
  TrainingOutlook all;
  all.planned = forecast_log(log, request, file);
  const auto with = [&](const std::string& plan, std::int64_t horizon) {
    ForecastRequest other = request;
    other.rates.clear(), other.plan = plan, other.horizon = horizon;
    other.decide = false, other.budget.reset();
    return forecast_log(log, other, file);
  };
  const std::int64_t steps = log.steps(), block = log.length();
  std::vector<std::int64_t> lengths;
  for (const double share : {.05, .10, .20, .35}) {
    const std::int64_t length =
        std::max<std::int64_t>(1, std::int64_t(share * double(steps) / double(block))) * block;
    if (lengths.empty() || length > lengths.back()) lengths.push_back(length);
  }
  const std::int64_t planned = all.planned.forecast.step.back() - log.last_step();
  all.held = with("hold", std::max(planned, lengths.back()));
  if (log.last_rate() <= 0) return all;
  for (const std::int64_t length : lengths) {
    DecayChoice decay{length, with("decay@now:" + std::to_string(length), length), 0};
    const Forecast& held = all.held.forecast;
    decay.held = held.median[block_at(held, decay.decayed.forecast.step.back())];
    all.decays.push_back(std::move(decay));
  }
  return all;
}

}  // namespace kolmo::predict
