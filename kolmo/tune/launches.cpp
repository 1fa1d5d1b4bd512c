#include "kolmo/tune/launches.hpp"

#include <string>

#include "kolmo/runtime/stream.hpp"

namespace kolmo::tune {

Stream launch_stream(const OpEntry& entry) {
  if (!entry.impl(DeviceKind::cuda)) return Stream(Device{DeviceKind::simt, 0}, 1);
  const Device gpu{DeviceKind::cuda, 0};
  if (available(gpu)) return Stream(gpu, 1);
  static const Device none = [] {
    const Device d{DeviceKind::cuda, 1000};  // an index beyond those that can be asked for by name
    add_backend(d, make_host_backend(d.kind));
    return d;
  }();
  return Stream(none, 1);
}

std::vector<Launch> launches_of(const OpEntry& entry, const void* args, int variant, Stream& stream) {
  const ImplBase* impl = entry.impl(stream.device().kind);
  if (!impl)
    fail<Unsupported>(std::string(entry.op->name) + " has no implementation for " +
                      to_string(stream.device()));
  const Buffer workspace(impl->workspace(args, {stream.device(), variant, 1}), stream);
  LaunchLog log;
  impl->launch(args, Arena(workspace.data()), stream, variant);
  return std::move(log.launches);
}

}  // namespace kolmo::tune
