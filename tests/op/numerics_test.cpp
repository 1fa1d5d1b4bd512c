#include "kolmo/op/numerics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/elementwise/binary/binary.hpp"
#include "kolmo/ops/elementwise/contiguous_copy/contiguous_copy.hpp"
#include "kolmo/ops/info/kl_divergence/kl_divergence.hpp"

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
  BinaryArgs args{.x = tensor(x, {2, 3}), .y = tensor(x, {2, 3}), .z = tensor(x, {2, 3})};
  Stream stream{Device{}};
  EXPECT_EQ(numerics::first_input(vector_add, &args, stream), "x[1, 2] is NaN");
  EXPECT_THROW(numerics::check_outputs(vector_add, &args, stream), numerics::NonFinite);
}

TEST_F(Numerics, StridesAreFollowed) {
  double few[3] = {1, NAN, 2}, y[1000];
  Stream stream{Device{}};
  ContiguousCopyArgs args{.x = tensor(few, {1000}), .y = tensor(y, {1000})};
  args.x.stride[0] = 0;
  EXPECT_EQ(numerics::first_input(contiguous_copy, &args, stream), "") << "one element, a thousand times";
  args.x = tensor(few, {2}), args.x.stride[0] = 2;
  EXPECT_EQ(numerics::first_input(contiguous_copy, &args, stream), "") << "beside the NaN";
  args.x = tensor(few + 2, {2}), args.x.stride[0] = -1;
  EXPECT_EQ(numerics::first_input(contiguous_copy, &args, stream), "x[1] is NaN");
}

TEST_F(Numerics, ADocumentedInfinityIsNoFaultAndANanIs) {
  double p[2] = {0.5, 0.5}, q[2] = {1, 0}, divergence = 0;
  Stream stream{Device{}};
  const auto call = [&] {
    kl_divergence({.p = tensor(p, {2}), .q = tensor(q, {2}), .divergence = tensor(&divergence, {})}, stream);
  };
  EXPECT_NO_THROW(call());
  EXPECT_EQ(divergence, INFINITY);
  q[0] = -1;
  stream.check_data(false);  // otherwise it would be a fault of the data
  EXPECT_THROW(call(), numerics::NonFinite);
}

struct TurnedArgs {
  In z;
  Out turned;
  static constexpr auto fields() {
    return std::array{field<&TurnedArgs::z>("z", "n", complexes, "numbers"),
                      field<&TurnedArgs::turned>("turned", "n", complexes, "i z")};
  }
};

TEST_F(Numerics, BothPartsOfComplexNumbersAreLookedAt) {
  static constexpr Definition<TurnedArgs> turn{{.name = "turn"}, {}};
  Complex<float> z[3] = {{1, 2}, {3, 4}, {5, 6}};
  const TurnedArgs args{.z = tensor(z, {3}), .turned = tensor(z, {3})};
  Stream stream{Device{}};
  EXPECT_EQ(numerics::first_input(turn, &args, stream), "");
  z[1].im = -INFINITY;
  EXPECT_EQ(numerics::first_input(turn, &args, stream), "z[1] is -infinity");
  EXPECT_THROW(numerics::check_outputs(turn, &args, stream), numerics::NonFinite);
}

/// A launch that is replayed on the host is checked at its replay.
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
