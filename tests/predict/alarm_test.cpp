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
  EXPECT_EQ(alarm_of(std::span(drifting).first(79)), "") << "a quarter needs 20 blocks";
  EXPECT_EQ(alarm_of(std::vector<double>(200, 2.)), "") << "a constant loss";
}

}  // namespace
}  // namespace kolmo::predict
