#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/predict/decide/controller.hpp"

namespace kolmo::predict {

/// A training of one weight x, whose loss is 1 + x: each step takes it a fifth of the way to the rate's factor, so a constant rate keeps
/// the loss at 2. Its forecasts say that decays end at `promise`.
struct Training : Host {
  double x = 1, factor = 1, promise = 1.5, average = NAN, above = 0, bad_from = INFINITY, seconds = 0,
         clock = 0;
  bool evaluates = true, memory = true;
  std::int64_t alarms = 0, quiet = 0;
  std::vector<std::vector<std::string>> evaluated;
  std::vector<double> log, held_out, factors;
  std::map<std::int64_t, std::pair<double, std::size_t>> states;
  std::vector<Question> questions;
  std::string adopted;
  Controller* charged = nullptr;

  std::vector<double> losses(std::int64_t from, bool) override { return {log.begin() + from, log.end()}; }
  std::vector<double> validations(const std::string& of) override {
    return of.empty() ? held_out : std::vector<double>{};
  }
  std::optional<Losses> evaluate(const std::vector<std::string>& of) override {
    evaluated.push_back(of);
    if (!evaluates) return Losses{};
    if (!memory) return {};
    Losses losses;
    for (const std::string& name : of) {
      losses.emplace_back(name, name.empty() ? 1 + x + above : average);
      if (name.empty()) held_out.push_back(losses.back().second);
    }
    return losses;
  }
  Outlook forecast(const Question& q) override {
    questions.push_back(q);
    if (charged) charged->charges().add(Charge::forecasts, seconds);
    std::vector<double> ahead, quantiles;
    for (std::int64_t step = 1; step <= q.horizon; ++step) {
      ahead.push_back(double(step));
      for (std::size_t i = 0; i < quantile_count; ++i)
        quantiles.push_back((q.start && step >= *q.start + q.length ? promise : 2) +
                            .01 * (quantile_level(i) - .5));
    }
    return {ahead, quantiles, "test"};
  }
  bool keep(std::int64_t step) override {
    if (memory) states[step] = {x, held_out.size()};
    return memory;
  }
  void forget_except(std::span<const std::int64_t> steps) override {
    std::erase_if(
        states, [&](const auto& s) { return std::find(steps.begin(), steps.end(), s.first) == steps.end(); });
  }
  void restore(std::int64_t step, bool) override {
    x = states.at(step).first;
    held_out.resize(states.at(step).second);
    log.resize(std::size_t(step));
    states.erase(states.upper_bound(step), states.end());
  }
  void set_rate_factor(double f) override { factor = f; }
  void adopt(const std::string& name) override { adopted = name; }
  void quiet_block() override { ++quiet; }
  void alarmed() override { ++alarms; }

  void step(Controller& c) {
    c.before_step(*this);
    factors.push_back(factor);
    x += .2 * (factor - x);
    log.push_back(double(log.size()) >= bad_from ? NAN : 1 + x);
    clock += .003;
    c.step(*this);
  }
  void steps(Controller& c, int count) {
    for (int i = 0; i < count && !c.done(); ++i) step(c);
  }
};

inline ControlOptions to_target(double target) {
  return {.control = true, .evaluates = true, .target = target, .every = 20, .warmup = 40, .overhead = {}};
}
inline std::vector<std::string_view> actions(const Controller& c) {
  std::vector<std::string_view> all;
  for (const Decided& d : c.decisions()) all.push_back(d.action);
  return all;
}

}  // namespace kolmo::predict
