#include "kolmo/runtime/array.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/simulated_device.hpp"

namespace kolmo {
namespace {

using testing::ElementsAre;

static_assert(std::is_nothrow_move_constructible_v<Array> && !std::is_copy_constructible_v<Array>);

TEST(Array, IsNotGivenByDefault) {
  const Array none;
  EXPECT_FALSE(none.tensor.given());
  EXPECT_TRUE(none.bytes().empty());
  Stream stream;
  EXPECT_FALSE(none.to_device(stream).tensor.given());
  EXPECT_FALSE(none.to_host(stream).tensor.given());
}

TEST(Array, OnTheHostIsZeroAndRowMajor) {
  const Array a(DType::f32, std::array{2, 3});
  EXPECT_EQ(shape_string(a.tensor), "(2, 3) f32 on cpu");
  EXPECT_TRUE(a.tensor.contiguous());
  EXPECT_THAT(a.values<float>(), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_EQ(a.bytes().size(), 24u);
  EXPECT_THROW((void)a.values<double>(), InvalidArgument);
}

TEST(Array, TakesValuesOfAVector) {
  const Array row(std::vector{1.0, 2.0, 3.0, 4.0});
  EXPECT_EQ(shape_string(row.tensor), "(4) f64 on cpu");
  const Array square(std::vector<std::int32_t>{1, 2, 3, 4}, std::array{2, 2});
  EXPECT_EQ(shape_string(square.tensor), "(2, 2) i32 on cpu");
  EXPECT_THAT(square.values<std::int32_t>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THROW(Array(std::vector{1.0, 2.0, 3.0}, std::array{2, 2}), InvalidArgument);
  EXPECT_EQ(Array(std::vector<double>{}).tensor.size(), 0);
}

TEST(Array, MovesWithoutMovingItsMemory) {
  Array a(std::vector{1.0, 2.0});
  const void* const data = a.tensor.data;
  Array b = std::move(a);
  EXPECT_EQ(b.tensor.data, data);
  EXPECT_FALSE(a.tensor.given());
  a = std::move(b);
  EXPECT_EQ(a.tensor.data, data);
  EXPECT_THAT(a.values<double>(), ElementsAre(1, 2));
  EXPECT_FALSE(b.tensor.given());
}

TEST(Array, GoesToEveryDeviceAndBack) {
  std::vector<Device> all{SimulatedDevice::make().device()};
  for (const DeviceInfo& d : devices()) all.push_back(d.device);
  for (const Device device : all) {
    SCOPED_TRACE(to_string(device));
    Stream stream(device);
    const auto live = pool_stats(device).live;
    {
      const Array host(std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}, std::array{3, 2});
      const Array there = host.to_device(stream);
      EXPECT_EQ(there.tensor.device, device);
      EXPECT_NE(there.tensor.data, host.tensor.data);
      EXPECT_EQ(pool_stats(device).live, live + 1);
      const Array back = there.to_host(stream);
      EXPECT_EQ(shape_string(back.tensor), "(3, 2) i64 on cpu");
      EXPECT_THAT(back.values<std::int64_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
      if (!in_host_memory(device)) {
        EXPECT_THROW((void)there.values<std::int64_t>(), InvalidArgument);
      }
    }
    EXPECT_EQ(pool_stats(device).live, live) << "its memory went back to the pool";
  }
}

}  // namespace
}  // namespace kolmo
