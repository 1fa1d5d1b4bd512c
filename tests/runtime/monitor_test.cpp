#include "kolmo/runtime/monitor.hpp"

#include <gtest/gtest.h>

#include "kolmo/ops/elementwise/vector_add/vector_add.hpp"

namespace kolmo {
namespace {

class Monitor : public testing::Test {
 protected:
  void SetUp() override { monitor::reset(); }
  void TearDown() override {
    monitor::enabled = false;
    monitor::reset();
  }
  void dispatch() {
    double x[] = {1}, y[] = {2}, z[1];
    vector_add({.x = tensor(x, {1}), .y = tensor(y, {1}), .z = tensor(z, {1})}, stream_);
  }
  Stream stream_{Device{}};
};

TEST_F(Monitor, SeesNothingWhileItIsOff) {
  dispatch();
  EXPECT_TRUE(monitor::snapshot().empty());
}

TEST_F(Monitor, CountsAndTimesEveryDispatch) {
  monitor::enabled = true;
  for (int i = 0; i < 3; ++i) dispatch();
  const auto records = monitor::snapshot();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].op, "vector_add");
  EXPECT_EQ(records[0].device, "cpu");
  EXPECT_EQ(records[0].calls, 3u);
  EXPECT_GT(records[0].seconds, 0);
  EXPECT_LT(records[0].seconds, 1);
}

TEST_F(Monitor, DoesNotCountWhatWasRefused) {
  monitor::enabled = true;
  EXPECT_THROW(vector_add({}, stream_), InvalidArgument);
  EXPECT_TRUE(monitor::snapshot().empty());
}

}  // namespace
}  // namespace kolmo
