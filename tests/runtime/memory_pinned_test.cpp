#include <gtest/gtest.h>

#include <cstring>

#include "kolmo/runtime/memory/mapped.hpp"
#include "kolmo/runtime/memory/pinned.hpp"
#include "tests/runtime/pipeline_rig.hpp"

namespace kolmo::memory {
namespace {

class Pinned : public testing::Test {
 protected:
  SimulatedDevice& device_ = SimulatedDevice::make();
  Stream stream_{device_.device()};
  PinnedPool& pool_ = pinned_pool(device_.device());
};

TEST_F(Pinned, IsNotReusedBeforeItsCopyIsDone) {
  const void* first = nullptr;
  {
    const PinnedBuffer staging(1 << 20, stream_);
    first = staging.data();
    device_.kernel(stream_, 1);
  }
  const PinnedBuffer second(1 << 20, stream_);
  EXPECT_NE(second.data(), first) << "the stream may still be reading it";
  stream_.synchronize();
  const PinnedBuffer third(1 << 20, stream_);
  EXPECT_EQ(third.data(), first);
  EXPECT_EQ(pool_.stats().chunks, 1u);
}

TEST_F(Pinned, ServesPipelinesOneAfterTheOther) {
  for (int round = 0; round < 3; ++round) {
    Returned back;
    LoadPipeline pipeline(device_.device(), load_stages(&device_), std::ref(back), manual({.slots = 3}));
    for (std::size_t i = 0; i < 20; ++i) pipeline.submit(load(i));
    pipeline.drain();
    EXPECT_EQ(back.count(PipelineOutcome::done), 20);
    EXPECT_EQ(pool_.stats().live, 6u) << "input and output of each slot";
    EXPECT_EQ(pool_.stats().from[int(MemorySource::upstream)], 1u) << "one slab serves all of them";
  }
  EXPECT_EQ(pool_.stats().live, 0u);
  EXPECT_EQ(pool_.pageable(), 0u);
}

TEST_F(Pinned, HasFourClassesPerOctave) {
  const PinnedBuffer a(5 << 20, stream_), b((5 << 20) + 1, stream_);
  EXPECT_EQ(pool_.stats().granted_bytes, (5u << 20) + (6u << 20)) << "no power of two";
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 256, 0u);
}

TEST_F(Pinned, IsPageableAndCountedBeyondItsCap) {
  pool_.set_cap(8 << 20);
  const PinnedBuffer a(8 << 20, stream_);
  EXPECT_FALSE(a.pageable());
  {
    const PinnedBuffer b(1 << 20, stream_);
    EXPECT_TRUE(b.pageable());
    std::memset(b.data(), 1, b.bytes());
  }
  EXPECT_EQ(pool_.pageable(), 1u);
  EXPECT_EQ(pool_.stats().reserved_bytes, 8u << 20);
  EXPECT_EQ(pool_.stats().live, 1u);
}

TEST_F(Pinned, GivesSlabsBackWhenTrimmed) {
  {
    const PinnedBuffer a(100, stream_);
    device_.kernel(stream_, 1);
  }
  pool_.trim();
  EXPECT_EQ(pool_.stats().reserved_bytes, 0u);
  EXPECT_EQ(device_.now(), 1) << "it waited for the copy";
  EXPECT_THROW(PinnedBuffer(~std::size_t(0), stream_), OutOfMemory);
  EXPECT_EQ(PinnedBuffer(0, stream_).data(), nullptr);
}

TEST(Mapped, IsAlignedAndWritable) {
  for (const std::size_t bytes : {std::size_t(1), std::size_t(100'000), std::size_t(5) << 20}) {
    void* const data = map_touched(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % (bytes < 2 << 20 ? 4096 : 2 << 20), 0u);
    std::memset(data, 1, bytes);
    unmap(data, bytes);
  }
  EXPECT_THROW(map_touched(~std::size_t(0) / 2), OutOfMemory);
}

}  // namespace
}  // namespace kolmo::memory
