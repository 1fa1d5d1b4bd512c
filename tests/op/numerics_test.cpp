#include "kolmo/op/numerics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/ops/elementwise/vector_add/vector_add.hpp"

namespace kolmo {
namespace {

class Numerics : public testing::Test {
 protected:
  void SetUp() override { numerics::checked = true; }
  void TearDown() override { numerics::checked = false; }

  std::string refusal(Device device = {}) {
    Stream stream(device);
    try {
      vector_add({.x = tensor(x_, {4}, device), .y = tensor(y_, {4}, device), .z = tensor(z_, {4}, device)},
                 stream);
      return "";
    } catch (const numerics::NonFinite& e) {
      return e.what();
    }
  }
  double x_[4] = {1, 2, 1e308, -1e308}, y_[4] = {1, 2, 3, 4}, z_[4] = {};
};

TEST_F(Numerics, FiniteResultsPass) { EXPECT_EQ(refusal(), ""); }

TEST_F(Numerics, TheFirstInfinityIsNamed) {
  y_[2] = 1e308, y_[3] = -1e308;
  EXPECT_EQ(refusal(),
            "vector_add: z[2] is infinity where every input is finite (x (4) f64 on cpu, y (4) f64 on cpu, z "
            "(4) f64 "
            "on cpu)");
  x_[2] = 0;
  EXPECT_NE(refusal().find("z[3] is -infinity"), std::string::npos);
  if (available({DeviceKind::simt, 0})) {
    EXPECT_NE(refusal({DeviceKind::simt, 0}).find("z[3] is -infinity"), std::string::npos);
  }
}

TEST_F(Numerics, BadInputIsNoFaultOfTheOperator) {
  x_[1] = NAN;
  EXPECT_EQ(refusal(), "");
}

TEST_F(Numerics, NothingIsLookedAtWhileItIsOff) {
  numerics::checked = false;
  y_[2] = 1e308;
  EXPECT_EQ(refusal(), "");
}

TEST_F(Numerics, IndicesAreThoseOfTheTensor) {
  float x[6] = {1, 2, 3, 4, 5, NAN};
  VectorAddArgs args{.x = tensor(x, {2, 3}), .y = tensor(x, {2, 3}), .z = tensor(x, {2, 3})};
  Stream stream{Device{}};
  EXPECT_EQ(numerics::first_input(vector_add, &args, stream), "x[1, 2] is NaN");
  EXPECT_THROW(numerics::check_outputs(vector_add, &args, stream), numerics::NonFinite);
}

/// A launch that is replayed on the host is looked at when it is replayed.
TEST_F(Numerics, ReplaysAreLookedAt) {
  Stream stream{Device{}};
  Graph graph = capture(stream, [&] {
    vector_add({.x = tensor(x_, {4}), .y = tensor(y_, {4}), .z = tensor(z_, {4})}, stream);
  });
  graph.launch(stream);
  y_[2] = 1e308;
  EXPECT_THROW(graph.launch(stream), numerics::NonFinite);
}

}  // namespace
}  // namespace kolmo
