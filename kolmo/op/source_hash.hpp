#pragma once
#include <string_view>

#include "kolmo/base/tensor.hpp"

namespace kolmo {

/// SHA-256 (hex) over the tokens of the code that an operator runs on a kind of device, as built into this
/// program. GPUs: its .cu, the kernel code that it includes, directly or not, and the .cu of operators that
/// it calls. CPU: the same for its .cpp. Comments and white space are ignored. For an operator that was
/// added: OpEntry::sources. Empty if there is no such source.
std::string_view source_hash(std::string_view op, DeviceKind kind);

namespace detail {
std::string_view built_in_source_hash(std::string_view op, DeviceKind kind);  ///< by cmake/source_hashes.py
}

}  // namespace kolmo
