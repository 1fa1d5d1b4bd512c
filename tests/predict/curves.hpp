#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "kolmo/predict/record/training_log.hpp"

namespace kolmo::predict {

/// Losses of the lag law, step by step: floor + amplitude S^-exponent + gain lag_tau(rate).
struct LawSteps {
  double floor = 1.5, amplitude = 2.5, exponent = .437, gain = .21, tau = 23;
  double sum = 0, lag = NAN;
  std::int64_t step = 0;

  double next(double rate) {
    const double d = std::exp(-1 / tau);
    lag = std::isnan(lag) ? rate : d * lag + (1 - d) * rate;
    sum += rate, ++step;
    return floor + amplitude * std::pow(sum, -exponent) + gain * lag;
  }
};

/// Rates of 1 that fall linearly to `end` within `length` steps after step `at`.
inline std::vector<double> falling_rates(std::int64_t steps, std::int64_t at, std::int64_t length,
                                         double end) {
  std::vector<double> rates;
  for (std::int64_t t = 1; t <= steps; ++t)
    rates.push_back(1 - (1 - end) * std::clamp(double(t - at) / double(length), 0., 1.));
  return rates;
}

/// A log of such losses, times exp(noise).
inline TrainingLog law_log(const std::vector<double>& rates, double noise = 0, std::uint64_t seed = 0,
                           LawSteps law = {}) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  TrainingLog log;
  for (const double rate : rates) {
    const double loss = law.next(rate) * std::exp(noise * normal(random));
    log.append({.step = law.step, .loss = loss, .rate = rate});
  }
  return log;
}

}  // namespace kolmo::predict
