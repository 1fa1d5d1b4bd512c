#pragma once
#include <vector>

#include "kolmo/op/registry.hpp"
#include "kolmo/runtime/launch_log.hpp"

namespace kolmo::tune {

/// Makes a stream for launches_of. It is a stream of the GPU; on a machine without one, of a device of kind
/// `cuda` whose memory is the host's and on which nothing runs; in a build without CUDA, of the emulated GPU,
/// which compiles the same sources. Throws Unsupported if there is neither.
Stream launch_stream(const OpEntry& entry);

/// Lists the kernels that a variant of an operator would launch on a GPU, in order; none of them runs. `args`
/// are those of a problem on the stream's device. Throws Unsupported for an operator without code for it.
std::vector<Launch> launches_of(const OpEntry& entry, const void* args, int variant, Stream& stream);

}  // namespace kolmo::tune
