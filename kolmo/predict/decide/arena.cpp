#include "kolmo/predict/decide/arena.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/base/error.hpp"
#include "kolmo/base/normal_quantile.hpp"
#include "kolmo/base/number_text.hpp"

namespace kolmo::predict {
namespace {

constexpr std::size_t fewest_blocks = 4;
/// A plan that leaves the last rate by more than this share changes it.
constexpr double rate_change = .2;
/// The errors of past runs together count as this many independent errors of the log's own.
constexpr double learned_errors = 20;
/// The standing before a run has a past, if past runs are unlike it: of one that follows rates and has not learned, and of any other one.
constexpr double usual_of_law = .85, usual_of_other = 1;

bool changes_rate(const Seen& seen, const RateBlocks& planned) {
  const double last = seen.rate()[seen.count - 1];
  return std::any_of(planned.rate.begin(), planned.rate.end(),
                     [&](double r) { return std::fabs(r - last) > rate_change * last; });
}

std::string notes_of(const TrainingLog& log) {
  std::string all;
  for (const std::string& note : log.notes()) all += "; " + note;
  return all;
}

/// The normal quantile at the i-th level.
double normal_at(std::size_t i) {
  const double level = 2 * quantile_level(i) - 1;
  return std::copysign(two_sided_quantile(std::fabs(level)), level);
}

/// Widens a quantile by an independent uncertainty.
double widened(double quantile, double median, double other) {
  const double away = quantile - median;
  return median + std::copysign(std::hypot(away, other), away);
}

}  // namespace

Arena::Arena(Forecasters forecasters, std::size_t longest, std::size_t stride, const StoreStanding* standing)
    : history_(std::move(forecasters), longest, stride) {
  for (const auto& f : history_.forecasters()) usual_.push_back(f->usual_score());
  if (!standing) return;
  prior_ = standing->prior, learned_may_drive_ = standing->admitted, usual_origins_ = 10;
  for (std::size_t i = 0; i < usual_.size(); ++i) {
    const StoreStanding::Of* of = standing->find(history_.forecasters()[i]->name());
    if (!of) continue;
    usual_[i] = of->relative;
    std::map<std::size_t, std::vector<PastError>> errors;
    for (std::size_t h = 0; h < standing_horizons().size(); ++h)
      for (const float e : of->errors[h]) errors[standing_horizons()[h]].push_back({double(e)});
    history_.learn(i, std::move(errors), learned_errors);
  }
}

void Arena::update(const TrainingLog& log) {
  const auto& loss = log.blocks().loss;
  for (checked_ = std::min(checked_, loss.size()); checked_ < loss.size(); ++checked_)
    require(loss[checked_] > 0,
            "forecast: the loss is " + number_text(loss[checked_]) + " in block " + std::to_string(checked_) +
                "; forecasts are of the logarithm of the loss, so add a constant that makes it positive");
  history_.update(log.blocks());
}

double Arena::standing(std::size_t forecaster, std::size_t blocks, bool unlike) const {
  const Forecaster& f = *history_.forecasters()[forecaster];
  const double usual = !unlike                                ? usual_[forecaster]
                       : f.knows_rates() && !f.learned_gain() ? usual_of_law
                                                              : usual_of_other;
  double sum = 0, horizons = 0;
  for (const auto& [h, score] : history_.scores(forecaster)) {
    if (h > blocks || !score.count) continue;
    const double mean = score.persistence / double(score.count);
    sum += (score.crps + usual_origins_ * mean * usual) / (score.persistence + usual_origins_ * mean);
    ++horizons;
  }
  return horizons ? sum / horizons : usual;
}

std::vector<Standing> Arena::standings() const {
  std::vector<Standing> all;
  for (std::size_t f = 0; f < history_.forecasters().size(); ++f)
    for (const auto& [h, score] : history_.scores(f))
      all.push_back({std::string(history_.forecasters()[f]->name()), h, score});
  return all;
}

Arena::Choice Arena::driver(const Seen& seen, const RateBlocks& planned) const {
  const bool changes = changes_rate(seen, planned);
  Choice choice;
  std::vector<std::size_t> able;
  for (std::size_t f = 0; f < history_.forecasters().size(); ++f) {
    const Forecaster& forecaster = *history_.forecasters()[f];
    if (!forecaster.able(seen) || (changes && !forecaster.knows_rates())) continue;
    if (forecaster.learned_gain() && !learned_may_drive_) continue;
    if (planned.size() > forecaster.reach(seen)) continue;
    able.push_back(f);
    choice.unlike = choice.unlike || forecaster.unlike(seen);
  }
  double least = INFINITY;
  for (const std::size_t f : able)
    if (const double s = standing(f, planned.size(), choice.unlike); s < least)
      least = s, choice.forecaster = f;
  return choice;
}

Forecast Arena::forecast(const TrainingLog& log, const Plan& plan, std::size_t blocks) const {
  return made(SIZE_MAX, log, plan, blocks);
}

Forecast Arena::forecast_by(const std::string& name, const TrainingLog& log, const Plan& plan,
                            std::size_t blocks) const {
  std::string known;
  for (std::size_t f = 0; f < history_.forecasters().size(); ++f) {
    if (history_.forecasters()[f]->name() == name) return made(f, log, plan, blocks);
    known += (known.empty() ? "" : ", ") + std::string(history_.forecasters()[f]->name());
  }
  fail<InvalidArgument>("forecast: there is no forecaster '" + name + "'; there are " + known);
}

Forecast Arena::made(std::size_t f, const TrainingLog& log, const Plan& plan, std::size_t blocks) const {
  const Seen seen{log.blocks(), log.blocks().loss.size()};
  require(seen.known() >= fewest_blocks, "forecast: the log has " + std::to_string(seen.known()) +
                                             " full blocks of " + std::to_string(log.length()) +
                                             " steps with a loss; a forecast needs " +
                                             std::to_string(fewest_blocks) + notes_of(log));
  if (const auto since = log.diverged_since(); since && *since <= log.last_step() - log.length())
    fail<InvalidArgument>("forecast: the loss is no finite number since step " + std::to_string(*since) +
                          "; the training has diverged, and there is nothing to forecast");
  require(std::any_of(seen.blocks.rate.begin(), seen.blocks.rate.end(), [](double rate) { return rate > 0; }),
          "forecast: the rate is 0 in every block, so that nothing was trained; the log must have it in full "
          "precision, or not at all");
  const RateBlocks planned = planned_blocks(log, plan, blocks);
  const Choice choice = f == SIZE_MAX ? driver(seen, planned) : Choice{f};
  const Forecaster& forecaster = *history_.forecasters()[choice.forecaster];
  require(forecaster.able(seen),
          "forecast: the log has not what " + std::string(forecaster.name()) + " needs");

  const Prediction prediction = forecaster.predict(seen, planned);
  const Calibrator& calibrator = history_.calibrator(choice.forecaster);
  const double noise = noise_of(seen);
  const std::size_t shown = calibrator.reach(seen.count);
  Law::Future law;
  if (!forecaster.learned_gain()) law = fit_law(seen, LawTerms::lag, prior_).after(planned, log.length());
  Forecast out;
  out.driver = forecaster.name();
  out.unlike_past = choice.unlike;
  out.calibrated_on = calibrator.source();
  out.noise = noise;
  for (std::size_t i = 0; i < blocks; ++i) {
    Quantiles q = calibrator.at(i + 1, seen.count);
    const double median = q[quantile_count / 2], unit = error_unit(noise, prediction, i);
    const double gain = law.loss.empty() ? 0 : law.gain_deviation[i] / std::max(law.loss[i], 1e-300);
    // Past errors end before this horizon, and the parts of a mean may go on to part.
    const double unshown = std::sqrt(std::max(0., 1 - double(shown) / double(i + 1)));
    const double other = prediction.apart.empty() ? gain : std::hypot(gain, unshown * prediction.apart[i]);
    for (std::size_t k = 0; k < quantile_count; ++k)
      q[k] = std::exp(prediction.centres[i] + widened(unit * q[k], unit * median, normal_at(k) * other));
    std::sort(q.begin(), q.end());
    double sum = 0;
    for (const double v : q) sum += v;
    out.step.push_back(log.blocks().end + std::int64_t(i + 1) * log.length());
    out.mean.push_back(sum / double(quantile_count));
    out.median.push_back(q[quantile_count / 2]);
    out.quantiles.push_back(q);
    out.rate.push_back(planned.rate[i]);
  }
  return out;
}

TimeTo time_to(const Forecast& forecast, double target) {
  TimeTo out{target};
  for (std::size_t i = 0; i < forecast.step.size(); ++i) {
    const double middle = std::log(forecast.median[i]);
    const auto reached = [&](std::size_t k) {  // the noise of a block is no part of when a loss is reached
      const double away = std::log(forecast.quantiles[i][k]) - middle, own = normal_at(k) * forecast.noise;
      return middle + std::copysign(std::sqrt(std::max(0., away * away - own * own)), away) <=
             std::log(target);
    };
    if (!out.low && reached(0)) out.low = forecast.step[i];
    if (!out.median && middle <= std::log(target)) out.median = forecast.step[i];
    if (!out.high && reached(quantile_count - 1)) out.high = forecast.step[i];
  }
  return out;
}

}  // namespace kolmo::predict
