#pragma once
#include <type_traits>

#include "kolmo/op/op.hpp"

namespace kolmo {

struct OpEntry;

/// Runs an operator on the stream's device with tensors in host memory: copies inputs to the device, runs,
/// copies outputs back, waits. Outputs must be given. Tensors may be strided, and may overlap if the operator
/// allows it. Tensors that are already on the stream's device stay there. Nothing is copied if the device
/// works in host memory. Throws what run() throws. After it returns or throws, host memory is no longer
/// accessed.
void call_on_host(const OpEntry& entry, const void* args, Stream& stream, RunOptions options = {});
void call_on_host(const OpBase& op, const void* args, Stream& stream, RunOptions options = {});
void call_on_host(const OpBase& op, const AliasInfo& alias, void* args, Stream& stream, RunOptions options);
template <class Args>
void call_on_host(const Op<Args>& op, const std::type_identity_t<Args>& args, Stream& stream,
                  RunOptions options = {}) {
  call_on_host(static_cast<const OpBase&>(op), static_cast<const void*>(&args), stream, options);
}
template <class Args>
void call_on_host(const Alias<Args>& alias, std::type_identity_t<Args> args, Stream& stream,
                  RunOptions options = {}) {
  call_on_host(alias.op(), alias.info(), &args, stream, options);
}

}  // namespace kolmo
