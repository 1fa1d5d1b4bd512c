#include "kolmo/io/nearest.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kolmo {
namespace {

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(edit_distance("", "", 9), 0u);
  EXPECT_EQ(edit_distance("source", "sorce", 9), 1u);
  EXPECT_EQ(edit_distance("source", "soruce", 9), 1u);
  EXPECT_EQ(edit_distance("ca", "abc", 9), 3u) << "no part is edited twice";
  EXPECT_EQ(edit_distance("kitten", "sitting", 9), 3u);
  EXPECT_EQ(edit_distance("", "abc", 9), 3u);
  EXPECT_GT(edit_distance("a", "abcdefgh", 3), 3u);
}

TEST(Nearest, FindsASlipAndNothingElse) {
  const std::vector<std::string> options{"--source", "--target", "--given", "--source-history"};
  EXPECT_EQ(nearest("--sorce", options), "--source");
  EXPECT_EQ(nearest("--Source", options), "--source");
  EXPECT_EQ(nearest("--traget", options), "--target");
  EXPECT_EQ(nearest("--report", options), "");
  EXPECT_EQ(nearest("w", std::vector<std::string>{"x", "y"}), "");
  EXPECT_EQ(nearest("", options), "");
  EXPECT_EQ(nearest(std::string(100000, 'x'), options), "");
}

}  // namespace
}  // namespace kolmo
