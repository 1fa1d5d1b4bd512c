#include "kolmo/runtime/kernel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kolmo/runtime/launch_log.hpp"
#include "kolmo/runtime/nvrtc.hpp"
#include "kolmo/tune/kernel_resources.hpp"

namespace kolmo {
namespace {

using testing::HasSubstr;

constexpr const char* source = R"(
  template <class T> __global__ void scale(T* x, T factor) {
    __shared__ T copy[64];
    copy[threadIdx.x % 64] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = factor * copy[63 - threadIdx.x % 64];
  }
)";

template <class E>
std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(Kernel, RunsOnCudaOnly) {
  const Kernel kernel = Kernel::from_source(source, "scale<float>");
  Stream stream;
  const auto launch = [&] { kernel.launch({1}, {64}, 0, stream, static_cast<float*>(nullptr), 2.0f); };
  EXPECT_EQ(message<Unsupported>(launch), "kernel 'scale<float>' runs on cuda only, the stream is on cpu");
}

TEST(Kernel, IsWrittenDownWhereLaunchesAre) {
  Stream stream;
  LaunchLog log;
  Kernel::from_image("not looked at", "k").launch({3, 2}, {32, 4}, 100, stream);
  ASSERT_EQ(log.launches.size(), 1u);
  const Launch& l = log.launches[0];
  EXPECT_EQ(l.kernel, nullptr);
  EXPECT_EQ(l.given->name(), "k");
  EXPECT_EQ(l.grid, (std::array{3u, 2u, 1u}));
  EXPECT_EQ(l.block, (std::array{32u, 4u, 1u}));
  EXPECT_EQ(l.shared, 100u);
  EXPECT_EQ(l.given->compiler_log("9.0"), "") << "an image is already compiled";
}

TEST(Kernel, NoCompilerIsSaid) {
  if (can_compile_kernels()) GTEST_SKIP() << "NVRTC is here";
  EXPECT_THAT(message<Unsupported>([] { compile_kernel(source, "scale<float>", "9.0"); }),
              HasSubstr("libnvrtc"));
}

class Compiled : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_compile_kernels()) GTEST_SKIP() << "needs NVRTC: set KOLMO_NVRTC to its folder";
  }
};

TEST_F(Compiled, ForACapability) {
  for (const char* capability : {"8.0", "9.0", "12.0"}) {
    const CompiledKernel k = compile_kernel(source, "scale<float>", capability);
    EXPECT_EQ(k.image.substr(1, 3), "ELF");
    EXPECT_EQ(k.entry, "_Z5scaleIfEvPT_S0_");
    const tune::ResourceTable table(k.log);
    ASSERT_EQ(table.kernels().size(), 1u);
    EXPECT_EQ(table.kernels()[0].entry, k.entry);
    EXPECT_EQ(table.kernels()[0].capability, capability);
    EXPECT_GT(table.kernels()[0].registers, 0);
    EXPECT_EQ(table.kernels()[0].shared, 256u);
    EXPECT_EQ(table.kernels()[0].barriers, 1);
  }
}

TEST_F(Compiled, WithWhatTheCompilerSays) {
  const auto compile = [](const char* text, const char* name, std::vector<std::string> options = {}) {
    return message<InvalidArgument>([&] { compile_kernel(text, name, "9.0", options); });
  };
  EXPECT_THAT(compile("__global__ void k() { undeclared = 1; }", "k"), HasSubstr("undeclared"));
  EXPECT_THAT(compile(source, "absent"), HasSubstr("absent"));
  EXPECT_THAT(compile(source, "scale<float>", {"--no-such-option"}), HasSubstr("no-such-option"));
  EXPECT_THAT(message<InvalidArgument>([] { compile_kernel(source, "scale<float>", "nine"); }),
              HasSubstr("'nine' is no compute capability"));
}

TEST_F(Compiled, WithOptions) {
  constexpr const char* text = "__global__ void k(float* x) { x[threadIdx.x] = SCALE; }";
  EXPECT_THROW(compile_kernel(text, "k", "9.0"), InvalidArgument);
  EXPECT_FALSE(compile_kernel(text, "k", "9.0", {"-DSCALE=2"}).image.empty());
}

}  // namespace
}  // namespace kolmo
