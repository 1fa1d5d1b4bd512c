#include "kolmo/flow/estimate/neighbors.hpp"

#include <gtest/gtest.h>

namespace kolmo {
namespace {

TEST(Neighbors, FollowTheRuleBetweenItsBounds) {
  EXPECT_EQ(chosen_neighbors(1000, 3), 10);  // 1000^(4/7) = 51.8
  EXPECT_EQ(chosen_neighbors(1000, 2), 20);  // 1000^(4/6) = 100
  EXPECT_EQ(chosen_neighbors(1000, 12), 4);  // 1000^(4/16) = 5.6
  EXPECT_EQ(chosen_neighbors(10, 3), 4);
  EXPECT_EQ(chosen_neighbors(10000, 4), 20);  // 10000^(1/2) = 100
  EXPECT_EQ(chosen_neighbors(10000000, 3), 64);
}

TEST(Neighbors, ThatAreGivenStay) {
  EstimatorOptions o;
  EXPECT_EQ(with_neighbors(o, 1000, 3).neighbors, 4);
  EXPECT_FALSE(with_neighbors(o, 1000, 3).neighbors_chosen);
  o.neighbors = 0;
  EXPECT_EQ(with_neighbors(o, 1000, 3).neighbors, 10);
  EXPECT_TRUE(with_neighbors(o, 1000, 3).neighbors_chosen);
}

}  // namespace
}  // namespace kolmo
