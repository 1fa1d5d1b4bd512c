#include "kolmo/base/error.hpp"
#include "kolmo/predict/analysis/forecast.hpp"

namespace kolmo::predict {

Decision decide(const TrainingLog& log, const ForecastRequest& request, const Competitors& competitors) {
  require(request.target || request.budget, "forecast: --decide needs --target, --budget or both");
  const std::int64_t last = log.last_step(), steps = log.steps();
  require(!request.budget || *request.budget >= last,
          "forecast: the budget of " + std::to_string(*request.budget) +
              " steps is used up, as the log ends with step " + std::to_string(last));
  std::optional<std::int64_t> remaining;
  if (request.budget) remaining = *request.budget - last;
  const std::int64_t stride = decision_stride(steps, log.length());
  if (const RecentLoss recent = recent_loss(log); request.target && recent.loss <= *request.target)
    return {
        .step = last,
        .action = Decision::stop,
        .reason = "the mean loss of the last " + std::to_string(recent.steps) + " steps reached the target"};
  const std::int64_t horizon = decision_horizon(steps, remaining, stride, log.length());
  const auto blocks = [&](std::int64_t ahead) { return blocks_ahead(log, ahead); };
  Arena arena = arena_of(competitors, blocks(horizon));
  arena.update(log);
  const Plan plan = plan_of(request, log);
  const auto with = [&](std::vector<double> rates) {
    const std::size_t ahead = blocks(std::int64_t(rates.size()));
    const Plan of_rates = Plan::rates(std::move(rates));
    return Outlook(request.forecaster.empty() ? arena.forecast(log, of_rates, ahead)
                                              : arena.forecast_by(request.forecaster, log, of_rates, ahead),
                   last);
  };
  const auto planned = [&](std::int64_t horizon) { return plan.after(last, log.last_rate(), horizon); };
  Decision decision = choose({.steps = steps,
                              .target = request.target,
                              .remaining = remaining,
                              .stride = stride,
                              .going_on = with(planned(horizon)),
                              .decaying = [&](std::int64_t start, std::int64_t length) {
                                std::vector<double> rates = planned(start + length);
                                for (std::int64_t t = 0; t < length; ++t)
                                  rates[std::size_t(start + t)] *= 1 - double(t) / double(length);
                                return with(std::move(rates));
                              }});
  decision.step = last;
  return decision;
}

}  // namespace kolmo::predict
