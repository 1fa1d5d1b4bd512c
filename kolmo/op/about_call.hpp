#pragma once
#include <string>

#include "kolmo/op/define.hpp"

namespace kolmo {

/// A call as a JSON object for a trace (trace::Span::about): flops and bytes of its cost, the device, its options, and of each
/// tensor given name, kind, dtype, shape and address.
std::string about_call(const OpBase& op, const void* args, const Cost& cost, Device device);

}  // namespace kolmo
