#include "kolmo/base/error.hpp"
#include "kolmo/predict/analysis/forecast.hpp"

namespace kolmo::predict {

Decision decide(const TrainingLog& log, const ForecastRequest& request, const std::string& file) {
  require(request.target || request.budget, "forecast: --decide needs --target, --budget or both");
  const std::int64_t steps = log.last_step();
  require(!request.budget || *request.budget >= steps,
          "forecast: the budget of " + std::to_string(*request.budget) +
              " steps is used up, as the log has " + std::to_string(steps));
  const Plan plan = plan_of(request, log);
  const auto with = [&](std::vector<double> rates) {
    ForecastRequest other = request;
    other.decide = false, other.budget.reset(), other.horizon = std::int64_t(rates.size()),
    other.rates = std::move(rates);
    return Outlook(forecast_log(log, other, file).forecast, steps);
  };
  std::optional<std::int64_t> remaining;
  if (request.budget) remaining = *request.budget - steps;
  const std::int64_t stride = decision_stride(steps, log.length());
  const auto planned = [&](std::int64_t horizon) { return plan.after(steps, log.last_rate(), horizon); };
  return choose({.steps = steps,
                 .target = request.target,
                 .remaining = remaining,
                 .stride = stride,
                 .going_on = with(planned(decision_horizon(steps, remaining, stride, log.length()))),
                 .decaying = [&](std::int64_t start, std::int64_t length) {
                   std::vector<double> rates = planned(start + length);
                   for (std::int64_t t = 0; t < length; ++t)
                     rates[std::size_t(start + t)] *= 1 - double(t) / double(length);
                   return with(std::move(rates));
                 }});
}

}  // namespace kolmo::predict
