#pragma once
#include "kolmo/runtime/memory/trace.hpp"

namespace kolmo::memory {

/// Writes a pool's allocations in the log format of RMM's logging_resource_adaptor, which RMM's replay
/// benchmark reads: Thread,Time,Action,Pointer,Size,Stream. Sizes are those requested.
std::string rmm_csv(const Trace& trace, std::size_t pool);

/// Writes a pool's chunks and events in the format of torch.cuda.memory._dump_snapshot (a pickle of protocol
/// 2), which PyTorch's viewer (pytorch.org/memory_viz) opens. Tags are written as stack frames.
std::string pytorch_snapshot(const Trace& trace, std::size_t pool);

}  // namespace kolmo::memory
