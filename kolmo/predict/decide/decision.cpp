#include "kolmo/predict/decide/decision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace kolmo::predict {
namespace {

constexpr double shortest_share = .12, longest_share = .35;  // of the steps so far: decays that were measured
constexpr double least_gain = .005;                          // of the loss
constexpr std::int64_t least_length = 20;                    // steps

std::int64_t decay_of(double share, std::int64_t steps) {
  return std::max(least_length, std::int64_t(std::nearbyint(share * double(steps))));
}

Decision going_on(const Situation& s, std::string reason, std::string driver = "") {
  return {.step = s.steps, .driver = std::move(driver), .reason = std::move(reason)};
}

struct Decay {
  std::int64_t start, length;
  Outlook outlook;
  double loss;  ///< at its end, as forecast

  std::int64_t end() const { return start + length; }
};

/// The decay that ends first below the goal.
std::optional<Decay> first_below(const Situation& s, double goal) {
  std::optional<Decay> best;
  const std::set<std::int64_t> lengths{decay_of(shortest_share, s.steps), decay_of(longest_share, s.steps)};
  for (std::int64_t start = 0; start < 3 * s.stride; start += s.stride)
    for (const std::int64_t length : lengths) {
      const std::int64_t end = start + length;
      if ((s.remaining && end > *s.remaining) || (best && end >= best->end())) continue;
      Outlook outlook = s.decaying(start, length);
      const double loss = outlook.median(double(end)) + s.offset;
      if (loss <= goal) best = Decay{start, length, std::move(outlook), loss};
    }
  return best;
}

Decision to_target(const Situation& s, double goal, const Decay& best) {
  const double alone = s.going_on.reaches(goal),
               chance = best.outlook.probability_below(*s.target - s.offset, double(best.end()));
  Decision d{.step = s.steps,
             .probability = chance,
             .margin = *s.target - best.loss,
             .forecast = best.loss,
             .driver = best.outlook.driver()};
  if (alone <= double(best.end())) {
    d.probability = s.going_on.probability_below(*s.target, alone);
    d.margin = *s.target - s.going_on.median(alone);
    d.driver = s.going_on.driver();
    d.reason = fmt::format("without a decay the target is reached in {:.0f} steps, with one in {}", alone,
                           best.end());
  } else if (best.start) {
    d.reason = fmt::format("a decay in {} steps reaches the target before one that starts now", best.start);
  } else {
    d.action = Decision::start_decay, d.length = best.length;
    d.reason = "the decay reaches the target first";
  }
  return d;
}

Decision within_budget(const Situation& s, std::int64_t remaining) {
  if (remaining < least_length)
    return going_on(s, fmt::format("{} steps remain, which are too few for a decay", remaining));
  const std::int64_t longest = decay_of(longest_share / (1 + longest_share), s.steps + remaining);
  if (remaining > longest)
    return going_on(s, fmt::format("a decay to the end is not begun before {} steps remain", longest));
  const Outlook now = s.decaying(0, remaining);
  const double end = now.median(double(remaining)) + s.offset, without = s.going_on.median(double(remaining));
  const double margin = without - end;
  Decision d{.step = s.steps,
             .probability = now.probability_below(without - s.offset, double(remaining)),
             .margin = margin,
             .forecast = end,
             .driver = now.driver()};
  if (margin <= least_gain * std::abs(without)) {
    d.probability = 1 - d.probability, d.margin = -margin;
    d.reason = "a decay is not forecast to beat going on by the margin";
    return d;
  }
  const std::int64_t later = remaining - s.stride;
  if (later >= least_length && s.decaying(s.stride, later).median(double(remaining)) + s.offset < end) {
    d.reason = "a decay that starts later is forecast to end lower";
    return d;
  }
  d.action = Decision::start_decay, d.length = remaining;
  d.reason = "the decay to the end beats going on";
  return d;
}

}  // namespace

std::int64_t decision_stride(std::int64_t steps, std::int64_t block) {
  return std::max(5 * block, steps / 20);
}

std::size_t blocks_that_count(std::int64_t stride, std::int64_t block) {
  return std::size_t(std::max<std::int64_t>(5, stride / block));
}

std::int64_t decision_horizon(std::int64_t steps, std::optional<std::int64_t> remaining, std::int64_t stride,
                              std::int64_t block) {
  const std::int64_t most = 2 * stride + decay_of(longest_share, steps);
  return remaining ? std::clamp(*remaining, block, std::max(block, most)) : most;
}

std::string Decision::text() const {
  return fmt::format("{}{}; {}", action, length ? fmt::format(" of {} steps", length) : "", reason);
}

Decision choose(const Situation& s) {
  if (s.target) {
    const double goal = *s.target * (1 - least_gain);
    if (const std::optional<Decay> best = first_below(s, goal)) return to_target(s, goal, *best);
    if (!s.remaining) return going_on(s, "no decay is forecast to reach the target yet", s.going_on.driver());
  }
  if (!s.remaining) return going_on(s, "there is neither a target nor a budget");
  return within_budget(s, *s.remaining);
}

}  // namespace kolmo::predict
