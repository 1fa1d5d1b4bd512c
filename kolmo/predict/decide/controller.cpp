#include "kolmo/predict/decide/controller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "kolmo/base/error.hpp"
#include "kolmo/predict/decide/alarm.hpp"

namespace kolmo::predict {
namespace {

constexpr std::size_t enough = 6;                 // validations, for a forecast of them
constexpr std::int64_t most_alarms = 3;           // then the training stops
constexpr std::int64_t told_again = 50;           // blocks, for an alarm that is only told
constexpr std::int64_t most_alone = 4;            // evaluations of the leader, then all are compared again
constexpr double first_look = 40, growth = 1.25;  // blocks at which the full test for alarms is made

/// The lowest of the losses; NaN and -infinity are none.
const std::pair<std::string, double>* lowest(const Losses& losses) {
  const std::pair<std::string, double>* best = nullptr;
  for (const auto& loss : losses)
    if (loss.second > -std::numeric_limits<double>::infinity() && (!best || loss.second < best->second))
      best = &loss;
  return best;
}

bool has(const Losses& losses, const std::string& of) {
  return std::any_of(losses.begin(), losses.end(), [&](const auto& loss) { return loss.first == of; });
}

double of_weights(const Losses& losses) {
  for (const auto& [of, loss] : losses)
    if (of.empty()) return loss;
  return Decision::unknown;
}

double mean(const std::vector<double>& x, std::size_t first, std::size_t count) {
  double sum = 0;
  for (std::size_t i = first; i < first + count; ++i) sum += x[i];
  return sum / double(count);
}

}  // namespace

Controller::Controller(ControlOptions options, std::function<double()> clock)
    : options_(std::move(options)), charges_(options_.overhead, std::move(clock)), next_(options_.warmup) {
  require(!options_.control || options_.target || options_.budget,
          "controller: control needs a target (a loss) or a budget (steps), or it has nothing to decide by");
  require(!options_.every || *options_.every >= 1,
          fmt::format("controller: every is {} steps between decisions; 1 is the least",
                      options_.every.value_or(0)));
  require(!options_.target || std::isfinite(*options_.target),
          fmt::format("controller: target is {}, but must be a finite loss", options_.target.value_or(0)));
  require(!options_.budget || *options_.budget >= 1,
          fmt::format("controller: budget is {} steps; 1 is the least", options_.budget.value_or(0)));
  require(options_.warmup >= 0,
          fmt::format("controller: warmup is {} steps, but cannot be negative", options_.warmup));
}

std::string_view name_of(Controller::Phase phase) {
  constexpr std::string_view names[]{"warmup", "full", "predict", "correct"};
  return names[std::size_t(phase)];
}

// -- steps

void Controller::before_step(Host& host) {
  if (options_.control && !verified_ && host.keep(steps_)) verified_ = steps_;
}

void Controller::step(Host& host) {
  charges_.begin();
  ++steps_;
  if (steps_ % block == 0 && !done_) close_block(host);
  if (decay_ && !done_) follow_decay(host);
  if (options_.budget && !done_ && charged() >= *options_.budget) finish(host, "the budget is used up", {});
}

void Controller::close_block(Host& host) {
  take_losses(host);
  if (means_.empty()) return;
  const std::string agreed = host.agree((due() ? '+' : '-') + alarm_reason()), reason = agreed.substr(1);
  if (!reason.empty()) {
    alarm(host, reason);
    return;
  }
  if (decay_) return;
  if (options_.control) verify(host);
  if (agreed[0] == '+') decide(host);
  if (!decay_ && !done_) host.quiet_block();
}

void Controller::take_losses(Host& host) {
  const auto closed = std::int64_t(means_.size()) * block;
  const std::vector<double> losses = host.losses(closed, false);
  known_ = closed + std::int64_t(losses.size());
  for (std::size_t i = 0; i + block <= losses.size(); i += block) means_.push_back(mean(losses, i, block));
}

// -- alarms, and the states that they lead back to

/// Makes the full test where the last block is unusual, and at times that grow by a quarter.
std::string Controller::alarm_reason() {
  const double last = means_.back(), usual = usual_;
  if (std::isfinite(last)) usual_ = std::isfinite(usual) ? usual + .1 * (last - usual) : last;
  const auto count = double(means_.size());
  const bool looks =
      count >= first_look &&
      count == std::floor(first_look *
                          std::pow(growth, std::nearbyint(std::log(count / first_look) / std::log(growth))));
  if (!looks && std::isfinite(last) && !(last - usual > .25 * std::abs(usual))) return "";
  if (!options_.control)
    for (std::size_t i = decisions_.size() - std::min<std::size_t>(3, decisions_.size());
         i < decisions_.size(); ++i)
      if (decisions_[i].action == Decision::alarm && steps_ - decisions_[i].step < told_again * block)
        return "";
  return alarm_of(means_);
}

void Controller::alarm(Host& host, const std::string& reason) {
  const std::size_t told = decisions_.size();
  decisions_.push_back({{.step = steps_, .action = Decision::alarm, .reason = reason}, {}});
  if (!options_.control || only_drifts(reason)) return;
  ++alarms_;
  if (const std::optional<std::int64_t> back = decay_ ? decay_->start : verified_) {
    go_back(host, *back, false);
    base_factor_ /= 2;
    decisions_[told].outcome.returned_to = *back, decisions_[told].outcome.rate_factor = base_factor_;
  }
  if (decay_) {
    Outcome& outcome = decisions_[decay_->decision].outcome;
    outcome.rolled_back = true, outcome.reason = reason;
    decay_.reset();
  }
  host.alarmed();
  phase_ = Phase::full;
  set_factor(host, base_factor_);
  forget_others(host);
  if (alarms_ >= most_alarms)
    end(host, {{.step = steps_,
                .action = Decision::stop,
                .reason = fmt::format("{} alarms, the last: {}", most_alarms, reason)},
               {}});
}

/// A state is verified once losses of its own weights are known and raise no alarm.
void Controller::verify(Host& host) {
  if (candidate_ && known_ >= *candidate_ + block) {
    verified_ = std::exchange(candidate_, std::nullopt);
    forget_others(host);
  }
  const std::int64_t apart = std::max(10 * block, steps_ / 10);
  if (!candidate_ && (!verified_ || steps_ - *verified_ >= apart) && host.keep(steps_)) candidate_ = steps_;
}

void Controller::go_back(Host& host, std::int64_t step, bool random_and_data) {
  host.restore(step, random_and_data);
  went_back(step);
}

void Controller::went_back(std::int64_t step) {
  rolled_back_ += steps_ - step;
  steps_ = step, known_ = std::min(known_, step);
  means_.resize(std::min(means_.size(), std::size_t(step / block)));
  candidate_.reset();
  if (verified_ && *verified_ > step) verified_.reset();
}

void Controller::release() { options_.control = false, decay_.reset(), phase_ = Phase::full; }

void Controller::set_factor(Host& host, double factor) {
  factor_ = factor;
  if (options_.control) host.set_rate_factor(factor);
}

std::vector<std::int64_t> Controller::kept() const {
  std::vector<std::int64_t> steps;
  for (const std::optional<std::int64_t>& step :
       {verified_, candidate_, decay_ ? std::optional(decay_->start) : std::nullopt})
    if (step && std::find(steps.begin(), steps.end(), *step) == steps.end()) steps.push_back(*step);
  return steps;
}

void Controller::forget_others(Host& host) { host.forget_except(kept()); }

// -- decisions

std::int64_t Controller::stride() const {
  return options_.every ? *options_.every : decision_stride(steps_, block);
}

bool Controller::due() const { return !decay_ && steps_ >= next_ && (options_.target || options_.budget); }

std::vector<std::string> Controller::all_names() const {
  std::vector<std::string> names{""};
  names.insert(names.end(), options_.averages.begin(), options_.averages.end());
  return names;
}

/// Forecasts need the losses of weights and averages. For the target the one that led last is enough, which saves time in trainings
/// whose steps are short.
std::optional<Losses> Controller::evaluate_for_decision(Host& host, bool forecasts) {
  if (!forecasts && leader_ && alone_ < most_alone) {
    ++alone_;
    return host.evaluate({*leader_});
  }
  std::optional<Losses> losses = host.evaluate(all_names());
  const auto* best = losses ? lowest(*losses) : nullptr;
  leader_ = best ? std::optional(best->first) : std::nullopt, alone_ = 0;
  return losses;
}

void Controller::decide(Host& host) {
  next_ = steps_ + stride();
  const bool forecasts = host.agree(charges_.affordable() ? "+" : "-") == "+";
  const std::optional<Losses> losses = evaluate_for_decision(host, forecasts);
  if (!losses) {
    decisions_.push_back({{.step = steps_, .reason = "there was no memory for the evaluation"}, {}});
    return;
  }
  if (options_.target) {
    const bool measured = options_.evaluates;
    const Losses known = measured ? *losses : losses_of(host.agree(text_of(of_training(host))));
    if (const auto* best = lowest(known); best && best->second <= *options_.target) {
      finish(host, measured ? "the target is reached" : "the mean training loss reached the target", known);
      return;
    }
  }
  if (!forecasts) return;
  const double before = charges_.seconds(Charge::forecasts);
  Decided decision;
  try {
    decision = chosen(host);
  } catch (const Error& e) {
    decision.step = steps_, decision.reason = e.what();
  }
  charges_.set_cost(charges_.seconds(Charge::forecasts) - before);
  decision = decided_of(host.agree(text_of(decision)));
  if (options_.control && decision.action == Decision::start_decay)
    start_decay(host, std::move(decision));
  else
    decisions_.push_back(std::move(decision));
}

/// The mean loss on the batches of the last blocks, if no held-out loss is known; otherwise none.
Losses Controller::of_training(Host& host) const {
  for (const std::string& of : all_names())
    if (!host.validations(of).empty()) return {};
  const std::size_t count = std::min(means_.size(), blocks_that_count(stride(), block));
  return {{"", mean(means_, means_.size() - count, count)}};
}

/// Decides by forecasts of the held-out loss, if there are enough losses of it, and otherwise of the training loss.
Decided Controller::chosen(Host& host) {
  const auto known = [&](const std::string& of) {  // forecasts are of the logarithm of a loss
    const std::vector<double> losses = host.validations(of);
    return std::size_t(std::count_if(losses.begin(), losses.end(),
                                     [](double loss) { return loss > 0 && std::isfinite(loss); }));
  };
  const bool held_out = known("") >= enough;
  const std::string loss = held_out ? "validation" : "training";
  const bool averaged = held_out && !options_.averages.empty() && known(options_.averages[0]) >= enough;
  std::optional<std::int64_t> remaining;
  if (options_.budget) remaining = std::max<std::int64_t>(0, *options_.budget - charged());
  const std::int64_t apart = stride();
  const auto decaying = [&](std::int64_t start, std::int64_t length) {
    return host.forecast({start, length, start + length, loss});
  };
  Outlook going_on = host.forecast(
      {{}, 0, decision_horizon(steps_, remaining, apart, block), averaged ? options_.averages[0] : loss});
  return {choose({.steps = steps_,
                  .target = options_.target,
                  .remaining = remaining,
                  .stride = apart,
                  .going_on = std::move(going_on),
                  .decaying = decaying,
                  .offset = offset_}),
          {}};
}

void Controller::start_decay(Host& host, Decided decision) {
  if (host.all(host.keep(steps_))) {
    decay_ = Decay{decisions_.size(), steps_};
    phase_ = Phase::predict;
  } else {
    decision = {{.step = steps_, .reason = "there is no memory for the snapshot that a decay starts from"},
                {}};
    forget_others(host);
  }
  decisions_.push_back(std::move(decision));
}

void Controller::follow_decay(Host& host) {
  const std::int64_t passed = steps_ - decay_->start, length = decisions_[decay_->decision].length;
  set_factor(host, base_factor_ * std::max(0., 1 - double(passed) / double(length)));
  if (passed >= length) correct(host);
}

/// The end of a decay. It is kept if it reached the target or ends the budget; otherwise the training goes on from its start.
void Controller::correct(Host& host) {
  phase_ = Phase::correct;
  const std::int64_t start = decay_->start;
  const std::vector<double> last = host.losses(steps_ - std::min(steps_, block), true);
  Losses losses = host.evaluate(all_names()).value_or(Losses{{"", std::numeric_limits<double>::infinity()}});
  if (losses.empty()) losses = {{"", mean(last, 0, last.size())}};
  losses = losses_of(host.agree(text_of(losses)));
  const std::size_t index = decay_->decision;
  decay_.reset();
  const double measured = of_weights(losses), error = measured - decisions_[index].forecast;
  Outcome& outcome = decisions_[index].outcome;
  outcome.measured = measured, outcome.error = error, outcome.losses = losses, outcome.rolled_back = false;
  const auto* best = lowest(losses);
  const bool reached = options_.target && best && best->second <= *options_.target;
  if (reached || (options_.budget && charged() >= *options_.budget && std::isfinite(measured))) {
    finish(host, reached ? "the target is reached" : "the decay ends the budget", losses);
    return;
  }
  if (std::isfinite(measured)) offset_ += error;
  outcome.rolled_back = true;
  go_back(host, start, true);
  forget_others(host);
  phase_ = Phase::full;
  set_factor(host, base_factor_);
  next_ = steps_ + stride();
}

void Controller::validated(Host& host, const std::string& of, double loss) {
  if (options_.target && !done_ && loss <= *options_.target && !options_.evaluates)
    finish(host, "the target is reached", {{of, loss}});
}

/// Returns the best of weights and averages, by their last held-out losses.
void Controller::finish(Host& host, const std::string& reason, Losses losses) {
  std::vector<std::string> missing;
  for (const std::string& of : all_names())
    if (!has(losses, of)) missing.push_back(of);
  std::exception_ptr thrown;  // the training ends all the same, by the losses that are known
  if (!missing.empty()) {
    try {
      const Losses more = host.evaluate(missing).value_or(Losses{});
      losses.insert(losses.end(), more.begin(), more.end());
    } catch (...) {
      thrown = std::current_exception();
    }
  }
  if (losses.empty())
    for (const std::string& of : all_names())
      if (const std::vector<double> known = host.validations(of); !known.empty())
        losses.emplace_back(of, known.back());
  losses = losses_of(host.agree(text_of(losses)));
  Decided decision{{.step = steps_, .action = Decision::stop, .reason = reason}, {}};
  decision.outcome.losses = losses;
  if (const auto* best = lowest(losses); best && !best->first.empty()) {
    decision.action = Decision::return_average;
    decision.margin = of_weights(losses) - best->second;
    decision.outcome.average = best->first;
  }
  end(host, std::move(decision));
  if (thrown) std::rethrow_exception(thrown);
}

void Controller::end(Host& host, Decided decision) {
  decisions_.push_back(std::move(decision));
  done_ = true, decay_.reset(), phase_ = Phase::full;
  set_factor(host, 0);
  forget_others(host);
  if (options_.control && decisions_.back().action == Decision::return_average)
    host.adopt(decisions_.back().outcome.average);
}

}  // namespace kolmo::predict
