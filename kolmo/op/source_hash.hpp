#pragma once
#include <string_view>

#include "kolmo/base/tensor.hpp"

namespace kolmo {

/// SHA-256 (hex) over the sources of an operator for a kind of device as they were when this was built: for
/// the CPU its .cpp with every kolmo header it includes, directly or not, and the .cpp beside each of these;
/// for GPUs its .cu with its headers. Of an operator that was added: what its entry says. Empty when there is
/// no such source.
std::string_view source_hash(std::string_view op, DeviceKind kind);

namespace detail {
std::string_view built_in_source_hash(std::string_view op, DeviceKind kind);  ///< by source_hashes.cmake
}

}  // namespace kolmo
