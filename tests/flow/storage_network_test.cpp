#include <gtest/gtest.h>

#include "kolmo/base/error.hpp"
#include "kolmo/flow/infer/network.hpp"
#include "tests/flow/greedy_series.hpp"

namespace kolmo {
namespace {

TEST(StorageNetwork, OneVariableIsEnough) {
  const Series series = testing_flow::driven(1, 200);
  NetworkOptions o = testing_flow::greedy_options(1, 2, 39);
  Stream stream(Device{}, 1);
  EXPECT_THROW(infer_network(series, o, stream, nullptr, nullptr), InvalidArgument);
  o.greedy.measure = GreedyMeasure::ais;
  const Network network = infer_network(series, o, stream, nullptr, nullptr);
  ASSERT_EQ(network.selections.size(), 1u);
  EXPECT_TRUE(network.links.empty());
  EXPECT_GT(network.targets[0].samples, 190);
}

}  // namespace
}  // namespace kolmo
