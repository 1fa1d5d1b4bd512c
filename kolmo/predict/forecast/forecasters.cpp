#include "kolmo/predict/forecast/forecasters.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/ops/timeseries/ar_forecast/ar_forecast.hpp"
#include "kolmo/predict/forecast/law.hpp"

namespace kolmo::predict {
namespace {

using Centres = std::vector<double>;

Prediction persistence(const Seen& seen, const RateBlocks& planned, const GainPrior&) {
  const auto loss = seen.loss();
  return {Centres(planned.size(), std::log((loss[seen.count - 2] + loss[seen.count - 1]) / 2))};
}

/// Holt's damped trend of log loss, after the last block.
struct Trend {
  double level = 0, slope = 0;
  static constexpr double damping = .93;
};
/// `effects`: what is taken out of the log losses before; may be empty.
Trend trend_of(const Seen& seen, std::span<const double> effects = {}) {
  constexpr double of_level = .45, of_slope = .15;
  const auto value = [&](std::size_t i) {
    return std::log(seen.loss()[i]) - (effects.empty() ? 0 : effects[i]);
  };
  Trend t{value(0)};
  for (std::size_t i = 1; i < seen.count; ++i) {
    const double before = t.level;
    t.level = of_level * value(i) + (1 - of_level) * (before + Trend::damping * t.slope);
    t.slope = of_slope * (t.level - before) + (1 - of_slope) * Trend::damping * t.slope;
  }
  return t;
}
Prediction local_linear(const Seen& seen, const RateBlocks& planned, const GainPrior&) {
  const Trend t = trend_of(seen);
  Prediction out;
  double step = 1, sum = 0;
  for (std::size_t i = 0; i < planned.size(); ++i)
    out.centres.push_back(t.level + t.slope * (sum += step *= Trend::damping));
  return out;
}

Prediction autoregressive(const Seen& seen, const RateBlocks& planned, const GainPrior&) {
  constexpr std::int64_t order = 3;
  constexpr std::size_t most = 100;
  if (planned.size() == 0) return {};
  const std::size_t n = std::min(seen.count, most);
  const auto horizon = std::int64_t(planned.size());
  std::vector<double> x;
  for (const double loss : seen.loss().last(n)) x.push_back(std::log(loss));
  Centres out(planned.size()), variance(planned.size());
  double coefficients[order], noise = 0;
  thread_local Stream stream(Device{}, 1);
  ar_forecast({.x = tensor(x.data(), {std::int64_t(n)}),
               .forecast = tensor(out.data(), {horizon}),
               .variance = tensor(variance.data(), {horizon}),
               .coefficients = tensor(coefficients, {order}),
               .noise_variance = tensor(&noise, {}),
               .order = order,
               .horizon = horizon,
               .difference = 1},
              stream);
  const double level =
      x.back();  // a fit of few blocks may be unstable: no centre is further than e^2 times the loss away
  for (double& c : out) c = std::isfinite(c) ? std::clamp(c, level - 2, level + 2) : level;
  return {out};
}

Prediction of_law(const Seen& seen, const RateBlocks& planned, LawTerms terms, const GainPrior& prior) {
  return {fit_law(seen, terms, prior).after(planned, seen.blocks.length).logs(seen.loss()[seen.count - 1])};
}
Prediction power_law(const Seen& seen, const RateBlocks& planned, const GainPrior& prior) {
  return of_law(seen, planned, LawTerms::power, prior);
}
Prediction lag_law(const Seen& seen, const RateBlocks& planned, const GainPrior& prior) {
  return of_law(seen, planned, LawTerms::lag, prior);
}

Prediction averaged_weights(const Seen& seen, const RateBlocks& planned, const GainPrior& prior) {
  Blocks averages;  // the curve of averaged weights as a run at constant rate
  static_cast<RateBlocks&>(averages) = seen.blocks;
  averages.length = seen.blocks.length;
  averages.loss = seen.blocks.averaged;
  const Law curve = fit_law({averages, seen.count}, LawTerms::power, prior);
  const Law law = fit_law(seen, LawTerms::power, prior);
  const Law lag = fit_law(seen, LawTerms::lag, prior);
  const Law::Future average = curve.after(planned, seen.blocks.length);
  Law::Future future = law.after(planned, seen.blocks.length);
  const std::vector<double> left = lag.lags(planned, seen.blocks.length);
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const double decayed = lag.lag > 0 ? std::clamp(1 - left[i] / lag.lag, 0., 1.) : 1;
    future.loss[i] += decayed * (std::min(average.loss[i], future.loss[i]) - future.loss[i]);
  }
  return {future.logs(seen.loss()[seen.count - 1])};
}
bool has_averages(const Seen& seen) {
  return seen.count >= 4 && std::isfinite(seen.averaged()[seen.count / 5]);
}

Prediction lag_law_and_trend(const Seen& seen, const RateBlocks& planned, const GainPrior& prior) {
  const Law law = fit_law(seen, LawTerms::lag, prior);
  const Law::Future future = law.after(planned, seen.blocks.length);
  const Trend t = trend_of(seen, law.lag_effects);
  Prediction out{future.logs(seen.loss()[seen.count - 1])};
  double step = 1, sum = 0;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const double trend = t.level + t.slope * (sum += step *= Trend::damping) + future.lag_effect[i];
    out.apart.push_back(std::fabs(trend - out.centres[i]) / 2);
    out.centres[i] = (out.centres[i] + trend) / 2;
  }
  return out;
}

bool always(const Seen&) { return true; }

struct Row {
  std::string_view name;
  std::size_t least;  ///< blocks
  bool knows_rates, is_law;
  double usual_score;  // at 50 steps, of trainings of an MLP, a CNN and a GPT
  Prediction (*predict)(const Seen&, const RateBlocks&, const GainPrior&);
  bool (*able)(const Seen&) = always;
};
constexpr Row rows[] = {
    {"persistence", 2, false, false, 1, persistence},
    {"local_linear", 2, false, false, .9, local_linear},
    {"autoregressive", 9, false, false, 1, autoregressive},
    {"power_law", 4, false, true, .94, power_law},
    {"lag_law", 4, true, true, .94, lag_law},
    {"averaged_weights", 4, true, true, 1, averaged_weights, has_averages},
    {"lag_law_and_trend", 4, true, true, .81, lag_law_and_trend},
};

class Simple : public Forecaster {
 public:
  Simple(const Row& row, const GainPrior& prior) : row_(row), prior_(prior) {}
  std::string_view name() const override { return row_.name; }
  std::size_t least() const override { return row_.least; }
  bool able(const Seen& seen) const override { return seen.known() >= row_.least && row_.able(seen); }
  double usual_score() const override { return row_.usual_score; }
  bool knows_rates() const override { return row_.knows_rates; }
  std::size_t reach(const Seen& seen) const override {
    return row_.is_law ? Forecaster::reach(seen) : std::max<std::size_t>(10, seen.count / 4);
  }
  Prediction predict(const Seen& seen, const RateBlocks& planned) const override {
    return row_.predict(seen, planned, prior_);
  }

 private:
  const Row& row_;
  GainPrior prior_;
};

}  // namespace

std::vector<std::unique_ptr<Forecaster>> simple_forecasters(const GainPrior& prior) {
  std::vector<std::unique_ptr<Forecaster>> all;
  for (const Row& row : rows) all.push_back(std::make_unique<Simple>(row, prior));
  return all;
}

}  // namespace kolmo::predict
