#include "kolmo/runtime/device.hpp"

#include <gtest/gtest.h>

#include <set>

#include "kolmo/io/file.hpp"
#include "kolmo/io/json.hpp"
#include "kolmo/runtime/backend.hpp"
#include "kolmo/runtime/validated.hpp"
#include "tests/paths.hpp"

namespace kolmo {
namespace {

TEST(Device, NamesAreParsed) {
  EXPECT_EQ(parse_device("cpu"), (Device{DeviceKind::cpu, 0}));
  EXPECT_EQ(parse_device("simt"), (Device{DeviceKind::simt, 0}));
  EXPECT_EQ(parse_device("cuda"), (Device{DeviceKind::cuda, 0}));
  EXPECT_EQ(parse_device("cuda:12"), (Device{DeviceKind::cuda, 12}));
  for (const char* wrong :
       {"", "gpu", "CPU", "cuda:", "cuda:x", "cuda:-1", "cuda:1 ", "cpu:0", "cuda:99999999999"})
    EXPECT_THROW(parse_device(wrong), InvalidArgument) << wrong;
}

TEST(Device, ListsOfDevicesAreParsed) {
  const auto cuda = [](int i) { return Device{DeviceKind::cuda, i}; };
  EXPECT_EQ(parse_devices("cpu"), std::vector{Device{}});
  EXPECT_EQ(parse_devices("auto"), std::vector{parse_device("auto")});
  EXPECT_EQ(parse_devices("cuda:0,2"), (std::vector{cuda(0), cuda(2)}));
  EXPECT_EQ(parse_devices("cuda:1,3,cpu"), (std::vector{cuda(1), cuda(3), Device{}}));
  for (const char* wrong : {"", ",", "cpu,", "0", "0,1", "cpu,1", "cuda:0,0", "cuda:1,cuda:1", "cpu,cpu",
                            "cuda:all,cuda", "cuda: 0", "cuda:0, 1", "cuda:*"})
    EXPECT_THROW(parse_devices(wrong), InvalidArgument) << wrong;
  std::vector<Device> gpus;
  for (int i = 0; i < cuda_device_count(); ++i) gpus.push_back(cuda(i));
  if (gpus.empty())
    EXPECT_THROW(parse_devices("cuda:all"), InvalidArgument);
  else
    EXPECT_EQ(parse_devices("cuda:all"), gpus);
}

TEST(Device, AutoIsTheFirstUsableGpuElseTheCpu) {
  const DeviceKind want = cuda_device_count() > 0 ? DeviceKind::cuda : DeviceKind::cpu;
  EXPECT_EQ(parse_device("auto"), (Device{want, 0}));
}

TEST(Device, TheCpuComesFirstAndAllAreUsable) {
  const auto all = devices();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].device, Device{});
  EXPECT_GE(all[0].processors, 1);
  EXPECT_GT(all[0].memory, 1u << 20);
  for (const DeviceInfo& d : all) {
    EXPECT_TRUE(available(d.device)) << to_string(d.device);
    EXPECT_FALSE(d.name.empty());
    EXPECT_EQ(parse_device(to_string(d.device)), d.device);
  }
}

TEST(Device, OneThatIsNotThereIsUnsupported) {
  const Device absent{DeviceKind::cuda, cuda_device_count()};
  EXPECT_FALSE(available(absent));
  EXPECT_THROW(device_info(absent), Unsupported);
}

TEST(Device, ValidatedGpusAreThoseOfTheRecords) {
  std::set<std::string> recorded;
  for (const auto& folder : std::filesystem::directory_iterator(source_dir() / "results")) {
    const auto file = folder.path() / "validate.json";
    if (std::filesystem::exists(file))
      recorded.insert(
          parse_json(read_regular(file.string(), 64 << 20), file.string())["device"]["capability"]);
  }
  EXPECT_FALSE(recorded.empty());
  for (const std::string capability : {"8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"})
    EXPECT_EQ(validated_on(capability), recorded.contains(capability)) << capability;
}

}  // namespace
}  // namespace kolmo
