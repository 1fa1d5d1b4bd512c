#include "kolmo/tune/launches.hpp"

#include <string>

namespace kolmo::tune {

std::vector<Launch> launches_of(const OpEntry& entry, const void* args, int variant, Stream& stream) {
  const CudaImpl* impl = entry.cuda ? entry.cuda : entry.simt;
  if (!impl) fail<Unsupported>(std::string(entry.op->name) + " has no implementation for cuda");
  const Buffer workspace(impl->workspace(args, variant), stream);
  LaunchLog log;
  impl->launch(args, workspace.data(), stream, variant);
  return std::move(log.launches);
}

}  // namespace kolmo::tune
