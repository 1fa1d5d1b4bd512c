#include "kolmo/tune/launches.hpp"

#include <gtest/gtest.h>

#include "kolmo/check/placement.hpp"
#include "kolmo/ops/elementwise/vector_add/vector_add.hpp"
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
  const auto launches = of(vector_add, 1);  // 1000 elements in blocks of 128
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].grid, (std::array{8u, 1u, 1u}));
  EXPECT_EQ(launches[0].block, (std::array{128u, 1u, 1u}));
  EXPECT_EQ(launches[0].shared, 0u);
  EXPECT_EQ(short_name(symbol_of(launches[0].kernel).name), "add<double, 1>");
  EXPECT_TRUE(untouched);
  EXPECT_EQ(LaunchLog::current(), nullptr);
}

TEST_F(Launches, OfTheOperatorsItCallsAreThereToo) {
  EXPECT_FALSE(of(ksg_mutual_information, 0).empty());
  EXPECT_TRUE(untouched);
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
