// Compares Kolmo's occupancy with the header of the CUDA toolkit, if it is installed.
#include <gtest/gtest.h>

#include <climits>
#include <random>

#include "kolmo/tune/occupancy.hpp"

#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>

namespace kolmo::tune {
namespace {

cudaOccDeviceProp properties_of(const Multiprocessor& m) {
  cudaOccDeviceProp p;
  const auto dot = m.capability.find('.');
  p.computeMajor = std::stoi(std::string(m.capability.substr(0, dot)));
  p.computeMinor = std::stoi(std::string(m.capability.substr(dot + 1)));
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsPerMultiprocessor = 32 * m.warps;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.sharedMemPerBlock = 48 * 1024;
  p.sharedMemPerMultiprocessor = m.shared;
  p.numSms = m.count;
  p.sharedMemPerBlockOptin = m.shared_per_block;
  p.reservedSharedMemPerBlock = 1024;
  return p;
}

cudaOccFuncAttributes attributes_of(const Resources& r, std::size_t dynamic) {
  cudaOccFuncAttributes a;
  a.maxThreadsPerBlock = 1024;
  a.numRegs = r.registers;
  a.sharedSizeBytes = r.shared - dynamic;
  a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  a.maxDynamicSharedSizeBytes = dynamic;
  a.numBlockBarriers = r.barriers;
  return a;
}

struct Draw {
  std::mt19937_64 random{1};
  int below(std::size_t n) { return int(random() % n); }

  const Multiprocessor& device() { return multiprocessors()[std::size_t(below(multiprocessors().size()))]; }
  /// Half of the shared memory requests are small, and half of the carveouts are the default.
  Resources launch(const Multiprocessor& on) {
    const auto most = below(2) ? 8192 : on.shared_per_block + 2048;
    return {1 + below(1100), below(260), std::size_t(below(most)), below(18), below(2) ? -1 : below(101)};
  }
};

std::string text(const Multiprocessor& on, const Resources& r) {
  return std::string(on.capability) + ": " + std::to_string(r.threads) + " threads, " +
         std::to_string(r.registers) + " registers, " + std::to_string(r.shared) + " bytes, " +
         std::to_string(r.barriers) + " barriers, carveout " + std::to_string(r.carveout);
}

TEST(OccupancyHeader, AMillionRandomLaunchesAgree) {
  Draw draw;
  int stale = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const Multiprocessor& on = draw.device();
    const Resources r = draw.launch(on);
    const std::size_t dynamic = r.shared - std::min<std::size_t>(r.shared, draw.below(48 * 1024 + 1));
    const cudaOccDeviceProp device = properties_of(on);
    const cudaOccFuncAttributes kernel = attributes_of(r, dynamic);
    cudaOccDeviceState state;
    state.carveoutConfig = r.carveout;
    cudaOccResult want;
    ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&want, &device, &kernel, &state, r.threads, dynamic),
              CUDA_OCC_SUCCESS)
        << text(on, r);
    const Occupancy got = occupancy(on, r);
    ASSERT_EQ(got.blocks, want.activeBlocksPerMultiprocessor) << text(on, r);
    ASSERT_EQ(got.blocks_by, (std::array{want.blockLimitWarps, want.blockLimitBlocks, want.blockLimitRegs,
                                         want.blockLimitSharedMem, want.blockLimitBarriers}))
        << text(on, r);
    unsigned factors = 0;
    constexpr unsigned bits[] = {OCC_LIMIT_WARPS, OCC_LIMIT_BLOCKS, OCC_LIMIT_REGISTERS,
                                 OCC_LIMIT_SHARED_MEMORY, OCC_LIMIT_BARRIERS};
    for (std::size_t l = 0; l < 5; ++l)
      if (got.limited_by(Limit(l))) factors |= bits[l];
    if (factors == want.limitingFactors) continue;
    // The header keeps the bits that it set before barriers became the limit.
    ASSERT_TRUE(want.blockLimitBarriers == got.blocks) << text(on, r);
    ASSERT_TRUE((want.limitingFactors & factors) == factors) << text(on, r);
    ++stale;
  }
  EXPECT_GT(stale, 1000) << "the header's limiting factors are no longer stale: say so in docs/occupancy.md";
}

TEST(OccupancyHeader, TheSameBlockSizeIsSuggested) {
  Draw draw;
  for (int i = 0; i < 10'000; ++i) {
    const Multiprocessor& on = draw.device();
    Resources r = draw.launch(on);
    r.registers %= 256, r.carveout = -1;
    const cudaOccDeviceProp device = properties_of(on);
    cudaOccFuncAttributes kernel = attributes_of(r, r.shared);
    kernel.maxThreadsPerBlock = 1 + draw.below(1024);
    const cudaOccDeviceState state;
    int grid = 0, threads = 0;
    ASSERT_EQ(
        cudaOccMaxPotentialOccupancyBlockSize(&grid, &threads, &device, &kernel, &state, nullptr, r.shared),
        CUDA_OCC_SUCCESS);
    ASSERT_EQ(suggested_threads(on, r, kernel.maxThreadsPerBlock), threads) << text(on, r);
  }
}

TEST(OccupancyHeader, ForgetsTheReserveInAvailableSharedMemory) {
  for (const Multiprocessor& on : multiprocessors()) {
    const cudaOccDeviceProp device = properties_of(on);
    cudaOccFuncAttributes kernel = attributes_of({32, 8}, 0);
    kernel.maxDynamicSharedSizeBytes = on.shared_per_block;
    const cudaOccDeviceState state;
    std::size_t bytes = 0;
    ASSERT_EQ(cudaOccAvailableDynamicSMemPerBlock(&bytes, &device, &kernel, &state, 2, 32), CUDA_OCC_SUCCESS);
    EXPECT_EQ(occupancy(on, {32, 8, bytes}).blocks, 1) << on.capability;
    EXPECT_EQ(occupancy(on, {32, 8, shared_for(on, 2)}).blocks, 2) << on.capability;
  }
}

}  // namespace
}  // namespace kolmo::tune

#else

TEST(OccupancyHeader, AMillionRandomLaunchesAgree) {
  GTEST_SKIP() << "no cuda_occupancy.h: needs the CUDA toolkit";
}

#endif
