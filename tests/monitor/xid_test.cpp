#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "kolmo/runtime/kernel.hpp"
#include "kolmo/runtime/nvml.hpp"

namespace kolmo {
namespace {

constexpr Device gpu{DeviceKind::cuda};

/// Writes to an address without memory.
constexpr const char* write_nowhere = R"(
  .version 7.0
  .target sm_80
  .address_size 64
  .visible .entry write_nowhere() {
    .reg .b64 %at;
    mov.u64 %at, 16;
    st.global.u32 [%at], 1;
    ret;
  }
)";

[[noreturn]] void fault() {
  try {
    Stream stream(gpu);
    Kernel::from_image(write_nowhere, "write_nowhere").launch({1}, {1}, 0, stream);
    stream.synchronize();
  } catch (const DeviceError& e) {
    std::cerr << e.what() << std::endl;
    _exit(0);
  }
  _exit(1);
}

TEST(XidErrors, OfOtherProcessesAreTold) {
  if (!available(gpu)) GTEST_SKIP() << "needs a GPU";
  Nvml* const nvml = Nvml::open();
  ASSERT_NE(nvml, nullptr);
  nvml->xid_errors();
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(fault(), testing::ExitedWithCode(0), "an illegal memory access was encountered");
  std::vector<std::pair<std::size_t, std::uint64_t>> errors;
  for (int i = 0; i < 100 && errors.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    errors = nvml->xid_errors();
  }
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors[0].second, 31u) << "a fault of the memory management unit";
}

}  // namespace
}  // namespace kolmo
