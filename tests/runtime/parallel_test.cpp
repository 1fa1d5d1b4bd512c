#include "kolmo/runtime/cpu/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace kolmo {
namespace {

TEST(ParallelFor, DoesEveryItemOnce) {
  for (const int threads : {1, 2, 3, 8})
    for (const std::int64_t n : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(n));
      std::atomic<bool> bad_thread{false};
      parallel_for(threads, n, [&](std::int64_t i, int thread) {
        ++done[std::size_t(i)];
        if (thread < 0 || thread >= threads) bad_thread = true;
      });
      for (const auto& d : done) ASSERT_EQ(d, 1);
      EXPECT_FALSE(bad_thread);
    }
}

TEST(ParallelFor, OneThreadKeepsTheOrder) {
  std::vector<std::int64_t> order;
  parallel_for(1, 5, [&](std::int64_t i, int) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(ParallelFor, PassesOnTheExceptionAndStops) {
  for (const int threads : {1, 4}) {
    std::atomic<int> begun{0};
    EXPECT_THROW(parallel_for(threads, 1000000,
                              [&](std::int64_t i, int) {
                                ++begun;
                                if (i == 10) throw std::runtime_error("ten");
                              }),
                 std::runtime_error);
    EXPECT_LT(begun, 1000000);
  }
}

TEST(ParallelFor, MayBeNested) {
  std::atomic<int> total{0};
  parallel_for(2, 4, [&](std::int64_t, int) { parallel_for(2, 4, [&](std::int64_t, int) { ++total; }); });
  EXPECT_EQ(total, 16);
}

TEST(HardwareThreads, AreAtLeastOne) { EXPECT_GE(hardware_threads(), 1); }

}  // namespace
}  // namespace kolmo
