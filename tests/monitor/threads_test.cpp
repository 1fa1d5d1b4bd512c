#include <gtest/gtest.h>

#include <thread>

#include "kolmo/runtime/monitor.hpp"
#include "kolmo/runtime/trace.hpp"
#include "tests/sim/simulated_device.hpp"

namespace kolmo::monitor {
namespace {

/// Threads launch on two devices while others read and trace. No count is lost, and ThreadSanitizer reports
/// nothing.
TEST(MonitorThreads, LaunchWhileOthersRead) {
  SimulatedDevice& device = SimulatedDevice::make();
  constexpr int threads = 4, launches_each = 300;
  const std::uint64_t before = launches();
  std::atomic<bool> done = false;
  std::jthread reader([&] {
    while (!done) {
      metrics::collect();
      trace::start(1000);
      trace::stop();
    }
  });
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&] {
        Stream host{Device{}}, stream(device.device());
        for (int i = 0; i < launches_each; ++i) {
          {
            const Scope scope("test_threads", host, [] { return Work{1, 1}; });
          }
          const Scope scope("test_threads", stream, [] { return Work{1, 1}; });
          device.kernel(stream, 1e-6);
        }
        stream.synchronize();
      });
  }
  done = true;
  reader.join();
  EXPECT_EQ(launches() - before, 2U * threads * launches_each);
}

}  // namespace
}  // namespace kolmo::monitor
