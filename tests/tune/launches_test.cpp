#include "kolmo/tune/launches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kolmo/check/placement.hpp"
#include "kolmo/ops/elementwise/binary/binary.hpp"
#include "kolmo/ops/info/ksg_mutual_information/ksg_mutual_information.hpp"
#include "kolmo/tune/kernel_resources.hpp"

namespace kolmo::tune {
namespace {

class Launches : public testing::Test {
 protected:
  void SetUp() override {
    if (!available({DeviceKind::simt, 0})) GTEST_SKIP() << "built without the emulated GPU";
  }

  std::vector<Launch> of(const OpBase& op, int variant) {
    Stream stream(Device{DeviceKind::simt, 0}, 1);
    const check::Problem problem(op, op.cases()[1], 1);
    check::Placement placed(problem, stream);
    auto launches = launches_of(entry_of(op), placed.args(), variant, stream);
    untouched = placed.untouched(placed.collect(stream));
    return launches;
  }
  bool untouched = false;
};

TEST_F(Launches, AreWrittenDownAndNotRun) {
  const int row = entry_of(vector_add).find_variant(DeviceKind::simt, "element by element");
  const auto launches = of(vector_add, row);  // 1000 elements in blocks of 256
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].grid, (std::array{4u, 1u, 1u}));
  EXPECT_EQ(launches[0].block, (std::array{256u, 1u, 1u}));
  EXPECT_EQ(launches[0].shared, 0u);
  EXPECT_THAT(short_name(symbol_of(launches[0].kernel).name), testing::StartsWith("single_elements<"));
  EXPECT_TRUE(untouched);
  EXPECT_EQ(LaunchLog::current(), nullptr);
}

TEST_F(Launches, OfTheOperatorsItCallsAreThereToo) {
  EXPECT_FALSE(of(ksg_mutual_information, 0).empty());
  EXPECT_TRUE(untouched);
}

/// The operator has the code that a build with CUDA and without the emulated GPU has.
TEST(LaunchStream, NeedsNeitherAGpuNorTheEmulatedOne) {
  static constinit const Impl<BinaryArgs> cuda{
      {.launch =
           [](const BinaryArgs& a, Arena scratch, Stream& stream, int) {
             EXPECT_EQ(stream.device().kind, DeviceKind::cuda);
             EXPECT_EQ(stream.device(), a.x.device);
             EXPECT_NE(scratch.take<double>(100), nullptr);
             LaunchLog::current()->launches.push_back({nullptr, {5, 1, 1}, {32, 1, 1}, 0});
           },
       .lay =
           [](Arena& arena, const BinaryArgs&, const Site& site) {
             EXPECT_EQ(site.device.kind, DeviceKind::cuda);
             arena.take<double>(100);
           }}};
  const OpEntry entry{.group = "test", .op = entry_of(vector_add).op, .on = {nullptr, &cuda}};
  for (int again = 0; again < 2; ++again) {
    Stream stream = launch_stream(entry);
    const check::Problem problem(*entry.op, entry.op->cases()[1], 1);
    check::Placement placed(problem, stream);
    const auto launches = launches_of(entry, placed.args(), 0, stream);
    ASSERT_EQ(launches.size(), 1u);
    EXPECT_EQ(launches[0].grid[0], 5u);
    EXPECT_TRUE(placed.untouched(placed.collect(stream)));
  }
  for (const DeviceInfo& d : devices()) EXPECT_LT(d.device.index, 1000) << "it is no device to compute on";
}

TEST(LaunchLog, TheInnermostOneCounts) {
  EXPECT_EQ(LaunchLog::current(), nullptr);
  LaunchLog outer;
  {
    LaunchLog inner;
    EXPECT_EQ(LaunchLog::current(), &inner);
  }
  EXPECT_EQ(LaunchLog::current(), &outer);
}

}  // namespace
}  // namespace kolmo::tune
