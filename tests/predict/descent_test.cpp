#include "kolmo/predict/decide/descent.hpp"

#include <gtest/gtest.h>

namespace kolmo::predict {
namespace {

TEST(Descents, ExcludeWhatNeitherSlopeNorNoiseCanReach) {
  Descent d;
  for (int i = 0; i < 5; ++i) d.add(10 * i, 2 - .1 * i);
  EXPECT_FALSE(d.excludes(0, 50, 100)) << "too few losses";
  d.add(50, 1.5);
  EXPECT_TRUE(d.excludes(1.29, 60, 100));
  EXPECT_FALSE(d.excludes(1.31, 60, 100));
  EXPECT_FALSE(d.excludes(0, 150, 100)) << "too long ago";
  d.add(60, 1.7);  // a rise of .2, and slopes to it of .2/50 at most from 10 on
  EXPECT_FALSE(d.excludes(1.43, 70, 100));
  EXPECT_TRUE(d.excludes(1.41, 70, 100));
  d.cut(50);
  EXPECT_EQ(d.losses().size(), 5u);
  EXPECT_EQ(d.losses().back().first, 50);
}

}  // namespace
}  // namespace kolmo::predict
