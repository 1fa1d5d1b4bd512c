#pragma once
#include <vector>

#include "kolmo/op/registry.hpp"
#include "kolmo/runtime/launch_log.hpp"

namespace kolmo::tune {

/// The kernels a CUDA variant of an operator would launch, in order; none of them runs. `args` are those of a
/// problem on `simt`, whose stream this is. In a build without CUDA the same source as the emulated GPU
/// compiles it is asked. Throws Unsupported for an operator without CUDA.
std::vector<Launch> launches_of(const OpEntry& entry, const void* args, int variant, Stream& stream);

}  // namespace kolmo::tune
