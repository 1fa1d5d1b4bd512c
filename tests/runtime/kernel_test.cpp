#include "kolmo/runtime/kernel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

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
    const tune::ResourceTable table(Kernel::from_source(source, "scale<float>").compiler_log(capability));
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

/// A kernel for y = factor * x with 32 elements, as a compiler might write it.
constexpr const char* ptx = R"(
  .version 7.0
  .target sm_80
  .address_size 64
  .visible .entry scale(.param .u64 y, .param .u64 x, .param .f32 factor) {
    .reg .b32 %i; .reg .b64 %y, %x, %at; .reg .f32 %v, %f;
    ld.param.u64 %y, [y]; ld.param.u64 %x, [x]; ld.param.f32 %f, [factor];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %at, %i, 4;
    add.s64 %x, %x, %at; add.s64 %y, %y, %at;
    ld.global.f32 %v, [%x];
    mul.f32 %v, %v, %f;
    st.global.f32 [%y], %v;
    ret;
  }
)";
constexpr const char* same_in_cuda = R"(
  extern "C" __global__ void scale(float* y, const float* x, float factor) {
    y[threadIdx.x] = factor * x[threadIdx.x];
  }
)";

class KernelOnGpu : public testing::Test {
 protected:
  static constexpr Device gpu{DeviceKind::cuda};
  void SetUp() override {
    if (!available(gpu)) GTEST_SKIP() << "needs a GPU";
    stream_.emplace(gpu);
  }
  /// Returns the kernel's results for 0, 1, ... 31.
  std::vector<float> scaled(const Kernel& kernel, float factor) {
    std::vector<float> x(32), y(32);
    for (int i = 0; i < 32; ++i) x[std::size_t(i)] = float(i);
    const Buffer from(128, *stream_), to(128, *stream_);
    const auto whole = [](const Buffer& b) { return b.as(DType::f32, std::array{std::int64_t(32)}); };
    stream_->copy(whole(from), tensor(x.data(), {32}));
    kernel.launch({1}, {32}, 0, *stream_, to.data(), from.data(), factor);
    stream_->copy(tensor(y.data(), {32}), whole(to));
    stream_->synchronize();
    return y;
  }
  void expect_it_scales(const Kernel& kernel) {
    const std::vector<float> y = scaled(kernel, 2.5f);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(y[std::size_t(i)], 2.5f * float(i));
  }
  std::optional<Stream> stream_;
};

TEST_F(KernelOnGpu, FromPtx) { expect_it_scales(Kernel::from_image(ptx, "scale")); }

TEST_F(KernelOnGpu, FromACubin) {
  if (!can_compile_kernels()) GTEST_SKIP() << "needs NVRTC to make one";
  const CompiledKernel k = compile_kernel(same_in_cuda, "scale", device_info(gpu).capability);
  expect_it_scales(Kernel::from_image(k.image, "scale"));
}

TEST_F(KernelOnGpu, FromSource) {
  if (!can_compile_kernels()) GTEST_SKIP() << "needs NVRTC";
  expect_it_scales(Kernel::from_source(same_in_cuda, "scale"));
}

TEST_F(KernelOnGpu, MistakesAreTold) {
  const auto what = [&](const Kernel& kernel, auto... arguments) {
    return message<InvalidArgument>([&] { kernel.launch({1}, {32}, 0, *stream_, arguments...); });
  };
  void* const none = nullptr;
  const Kernel kernel = Kernel::from_image(ptx, "scale");
  EXPECT_EQ(what(kernel, none, none), "kernel 'scale' has 3 parameters, not 2");
  EXPECT_EQ(what(kernel, none, none, 2.5), "kernel 'scale': parameter 2 has 4 bytes, the argument 8");
  EXPECT_EQ(what(Kernel::from_image(ptx, "scales"), none),
            "kernel 'scales' is not in its code, which has scale");
  for (const std::string& damaged : {std::string("no code"), std::string(ptx).substr(0, 300)})
    EXPECT_THAT(what(Kernel::from_image(damaged, "scale"), none),
                HasSubstr("kernel 'scale': cuda:0 cannot load its code: "));
  expect_it_scales(kernel);
}

}  // namespace
}  // namespace kolmo
