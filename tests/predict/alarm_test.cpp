#include "kolmo/predict/decide/alarm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace kolmo::predict {
namespace {

TEST(Alarms, OfALossThatIsNoNumber) {
  EXPECT_EQ(alarm_of({}), "");
  EXPECT_EQ(alarm_of(std::vector<double>{1., NAN}), "the loss is not a finite number");
  EXPECT_EQ(alarm_of(std::vector<double>{INFINITY}), "the loss is not a finite number");
}

TEST(Alarms, OfALossThatExplodes) {
  std::vector<double> losses{1, 1.1, .9, 1, 1.1, .9};  // median 1, median deviation .1
  losses.push_back(1 + 10 * 1.4826 * .1 + .01);
  EXPECT_EQ(alarm_of(losses), "the loss exploded: 2.493 after 1");
  losses.back() = 1 + 10 * 1.4826 * .1 - .01;
  EXPECT_EQ(alarm_of(losses), "");
  losses = {1, 1, 1, 1, 1, 1.49};  // beyond 10 deviations, but not half as high again
  EXPECT_EQ(alarm_of(losses), "");
  EXPECT_EQ(alarm_of(std::vector<double>{1., 1., 1., 1., 9.}), "")
      << "four losses are too few to know what is usual";
}

TEST(Alarms, OfALossThatDriftsUpwards) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, .3);
  std::vector<double> flat, drifting;
  for (int i = 0; i < 300; ++i) {
    flat.push_back(5 + noise(random));
    drifting.push_back(flat.back() + i / 150.);
  }
  EXPECT_EQ(alarm_of(flat), "");
  EXPECT_TRUE(alarm_of(drifting).starts_with("the loss drifts upwards: "));
  EXPECT_EQ(alarm_of(std::span(drifting).first(39)), "") << "a quarter needs 10 blocks";
  EXPECT_EQ(alarm_of(std::vector<double>(200, 2.)), "") << "a constant loss";
}

/// Means of 10 losses whose noise has a share `noise`, and which rise by the share `rate` a step after 300 steps.
std::vector<double> rising(double rate, double noise, int blocks, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, noise);
  std::vector<double> means(std::size_t(blocks), 0.);
  for (int step = 0; step < 10 * blocks; ++step)
    means[std::size_t(step / 10)] += .2 * std::exp(normal(random) + rate * std::max(0, step - 300));
  return means;
}

TEST(Alarms, OfASlowDriftInNoiseAndOfNoShortOrDecayingLog) {
  // Looks at 40 blocks and a quarter more each, as the controller's.
  const auto told = [](const std::vector<double>& means) {
    for (double n = 40; std::size_t(n) <= means.size(); n *= 1.25)
      if (only_drifts(alarm_of(std::span(means).first(std::size_t(n))))) return true;
    return false;
  };
  for (unsigned seed = 0; seed < 10; ++seed) {
    EXPECT_TRUE(told(rising(1e-3, .02, 80, seed)));
    EXPECT_TRUE(told(rising(1e-3, .1, 80, seed)));
    EXPECT_TRUE(told(rising(3e-3, .05, 100, seed)));
    EXPECT_TRUE(told(rising(1e-4, .3, 400, seed)));
  }
  int false_alarms = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::vector<double> falling = rising(0, .2, 300, seed);
    false_alarms += told(falling);
    for (std::size_t i = 0; i < falling.size(); ++i) falling[i] *= 1 + 3 / std::sqrt(double(i + 1));
    false_alarms += told(falling);
  }
  EXPECT_EQ(false_alarms, 0) << "of 600: below 1 % with 99 % confidence";
}

}  // namespace
}  // namespace kolmo::predict
