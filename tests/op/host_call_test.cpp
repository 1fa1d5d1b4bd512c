#include "kolmo/op/host_call.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/elementwise/binary/binary.hpp"
#include "kolmo/ops/elementwise/contiguous_copy/contiguous_copy.hpp"
#include "kolmo/ops/nn/layer_norm/layer_norm.hpp"
#include "kolmo/ops/random/random_uniform/random_uniform.hpp"
#include "kolmo/runtime/array.hpp"
#include "tests/sim/simulated_device.hpp"

namespace kolmo {
namespace {

using testing::Each;
using testing::ElementsAre;

std::vector<Device> all_devices() {
  std::vector<Device> all;
  for (const DeviceInfo& d : devices()) all.push_back(d.device);
  all.push_back(SimulatedDevice::make().device());
  return all;
}
class CallOnHost : public testing::TestWithParam<Device> {
 protected:
  Stream stream_{GetParam()};
  std::uint64_t live_ = pool_stats(GetParam()).live;
  ~CallOnHost() override { EXPECT_EQ(pool_stats(GetParam()).live, live_) << "staging memory was kept"; }
};
std::string name_of(const testing::TestParamInfo<Device>& info) {
  constexpr const char* kinds[] = {"cpu", "cuda", "simt"};
  return kinds[int(info.param.kind)] + std::to_string(info.param.index);
}
INSTANTIATE_TEST_SUITE_P(Devices, CallOnHost, testing::ValuesIn(all_devices()), name_of);

TEST_P(CallOnHost, RunsAndWaits) {
  const Array x(std::vector{1.0, 2.0, 3.0}), y(std::vector{10.0, 20.0, 30.0}), z(DType::f64, std::array{3});
  const BinaryArgs args{.x = x.tensor, .y = y.tensor, .z = z.tensor};
  call_on_host(vector_add, args, stream_);
  EXPECT_THAT(z.values<double>(), ElementsAre(11, 22, 33));
  EXPECT_THAT(x.values<double>(), ElementsAre(1, 2, 3));
  EXPECT_EQ(args.x.device, Device{}) << "the caller's arguments stay as they are";
}

TEST_P(CallOnHost, KeepsTensorsTogetherThatShareMemory) {
  const Array x(std::vector{1.0, 2.0, 3.0, 4.0});
  Tensor both = x.tensor;
  call_on_host(vector_add, {.x = both, .y = both, .z = both}, stream_);
  EXPECT_THAT(x.values<double>(), ElementsAre(2, 4, 6, 8)) << "in place";
  auto* const data = x.values<double>().data();
  EXPECT_THROW(
      call_on_host(vector_add, {.x = tensor(data, {3}), .y = tensor(data, {3}), .z = tensor(data + 1, {3})},
                   stream_),
      InvalidArgument)
      << "an overlap that the operator does not allow is seen on every device";
}

TEST_P(CallOnHost, FollowsStrides) {
  const Array x(std::vector{1.0, 2.0, 3.0});
  for (const std::int64_t n : {2, 3}) {
    const Array y(DType::f64, std::array{n});
    Tensor backwards = tensor(x.values<double>().data() + n - 1, {n});
    backwards.stride[0] = -1;
    call_on_host(contiguous_copy, {.x = backwards, .y = y.tensor}, stream_);
    EXPECT_EQ(y.values<double>().front(), double(n));
    EXPECT_EQ(y.values<double>().back(), 1);
  }
}

TEST_P(CallOnHost, RunsAnAliasAsItself) {
  float x[] = {-1, 0, 2, 5}, bound[4], asked[4];
  call_on_host(fused_layernorm_gelu,
               {.x = tensor(x, {4}), .y = tensor(bound, {4}), .activation = Activation::relu}, stream_);
  call_on_host(layer_norm, {.x = tensor(x, {4}), .y = tensor(asked, {4}), .activation = Activation::gelu},
               stream_);
  EXPECT_TRUE(std::ranges::equal(bound, asked));
}

TEST_P(CallOnHost, TakesTensorsThatAreThereAlready) {
  const Array host(std::vector{1.0, 2.0});
  const Array x = host.to_device(stream_), z(DType::f64, std::array{2});
  call_on_host(vector_add, {.x = x.tensor, .y = host.tensor, .z = z.tensor}, stream_);
  EXPECT_THAT(z.values<double>(), ElementsAre(2, 4));
}

TEST_P(CallOnHost, LeavesHostMemoryAloneWhenItThrows) {
  auto x = std::make_unique<Array>(std::vector<double>(1 << 16, 1.0));
  const Array y(std::vector{1.0, 2.0}), z(DType::f64, std::array{1 << 16});
  EXPECT_THROW(call_on_host(vector_add, {.x = x->tensor, .y = y.tensor, .z = z.tensor}, stream_),
               InvalidArgument);
  x.reset();  // AddressSanitizer detects a pending copy
  stream_.synchronize();
  EXPECT_THAT(z.values<double>(), Each(0.0));
}

TEST_P(CallOnHost, RefusesACapturedStream) {
  const Array x(std::vector{1.0}), z(DType::f64, std::array{1});
  EXPECT_THROW(
      capture(stream_,
              [&] { call_on_host(vector_add, {.x = x.tensor, .y = x.tensor, .z = z.tensor}, stream_); }),
      InvalidArgument);
}

TEST_P(CallOnHost, OutputsWithoutInputsGoWhereTheyAreAsked) {
  RandomUniformArgs args{.n = 5, .seed = 3};
  infer_outputs(random_uniform, &args, GetParam());
  EXPECT_EQ(args.values.device, GetParam());
  const Array there(args.values.dtype, args.values.shape(), stream_);
  args.values = there.tensor;
  random_uniform(args, stream_);
  const Array drawn = there.to_host(stream_), want(args.values.dtype, args.values.shape());
  args.values = want.tensor;
  call_on_host(random_uniform, args, stream_);
  EXPECT_TRUE(std::ranges::equal(drawn.bytes(), want.bytes()));
  infer_outputs(random_uniform, &args);
  EXPECT_EQ(args.values.device, Device{});
}

}  // namespace
}  // namespace kolmo
