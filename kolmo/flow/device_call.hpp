#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

/// Runs an operator whose tensors are in host memory on the stream's device and waits for it: inputs are
/// copied there, outputs back. On `cpu` and `simt`, which work in host memory, nothing is copied.
void device_call(const OpBase& op, void* args, Stream& stream);
template <class Args>
void device_call(const Op<Args>& op, Args args, Stream& stream) {
  device_call(static_cast<const OpBase&>(op), static_cast<void*>(&args), stream);
}

}  // namespace kolmo
