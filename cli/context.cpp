#include "cli/context.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <vector>

#include "kolmo/tune/lookup.hpp"
#include "kolmo/tune/tune_call.hpp"

namespace kolmo::cli {

void DeviceOptions::add(CLI::App& command) {
  command.add_option("--device", device, "where to compute: auto, cpu, cuda, cuda:N or simt (emulated GPU)")
      ->capture_default_str()
      ->type_name("DEVICE");
  command.add_option("--threads", threads, "CPU threads; 0: every core")
      ->capture_default_str()
      ->check(CLI::Range(0, 4096))
      ->type_name("T");
  monitoring.add(command);
}

Stream DeviceOptions::open() const {
  Stream stream(parse_device(device), threads);
  monitoring.begin();
  use_tuning(stream.device());
  return stream;
}

Stream DeviceOptions::open_unmonitored() const {
  Stream stream(parse_device(device), threads);
  use_tuning_once(stream.device());
  return stream;
}

Streams DeviceOptions::open_all() const {
  Streams streams = Streams::open(device, threads);
  monitoring.begin();
  for (std::size_t i = 0; i < streams.size(); ++i) use_tuning(streams[i].device());
  return streams;
}

Streams DeviceOptions::open_all_unmonitored() const {
  Streams streams = Streams::open(device, threads);
  for (std::size_t i = 0; i < streams.size(); ++i) use_tuning_once(streams[i].device());
  return streams;
}

namespace {
/// The store of tuning results; empty if there is none or it is switched off.
std::optional<tune::Store> tuning() {
  tune::Store store(tune::Store::default_root());
  std::error_code error;
  if (store.root() == "off" || !std::filesystem::exists(store.root() + "/v1", error)) return {};
  return store;
}
}  // namespace

void use_tuning(Device device) {
  const Device devices[] = {device};
  if (const auto store = tuning()) tune::use(*store, devices, to_string(tune::default_mode(device.kind)));
}

void use_tuning_once(Device device) {
  static std::mutex mutex;
  static std::vector<Device> used;
  const std::scoped_lock lock(mutex);
  if (std::find(used.begin(), used.end(), device) != used.end()) return;
  use_tuning(device);
  used.push_back(device);
}

void keep_misses() noexcept {
  try {
    if (auto store = tuning()) tune::record_misses(*store);
  } catch (const std::exception&) {  // a store that is not writable can still be read
  }
}

std::string describe(const Stream& stream) {
  const DeviceInfo info = device_info(stream.device());
  std::string text = to_string(info.device) + " (" + info.name;
  if (info.device.kind != DeviceKind::cuda)
    text += ", " + std::to_string(stream.threads()) + (stream.threads() == 1 ? " thread" : " threads");
  return text + ")";
}

std::string describe(const Streams& streams) {
  std::string text = describe(streams[0]);
  for (std::size_t i = 1; i < streams.size(); ++i) text += ", " + describe(streams[i]);
  return text;
}

}  // namespace kolmo::cli
