#include "cli/context.hpp"

#include <CLI/CLI.hpp>

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
  return stream;
}

std::string describe(const Stream& stream) {
  const DeviceInfo info = device_info(stream.device());
  std::string text = to_string(info.device) + " (" + info.name;
  if (info.device.kind != DeviceKind::cuda)
    text += ", " + std::to_string(stream.threads()) + (stream.threads() == 1 ? " thread" : " threads");
  return text + ")";
}

std::string shell_quoted(const std::string& text) {
  constexpr auto plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%^";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace kolmo::cli
