#pragma once
#include <string_view>

#include "kolmo/base/tensor.hpp"

namespace kolmo {

/// SHA-256 (hex) over the tokens of the code that an operator runs on a kind of device, as built into this
/// program. For GPUs these are its .cu, the kernel code that it includes, directly or not, and the .cu of
/// operators that it calls. For the CPU they follow from its .cpp in the same way. Comments and white space
/// are ignored. For an operator that was added: OpEntry::sources. Empty if there is no such source.
std::string_view source_hash(std::string_view op, DeviceKind kind);

namespace detail {
/// Made by cmake/source_hashes.py.
std::string_view built_in_source_hash(std::string_view op, DeviceKind kind);
}  // namespace detail

}  // namespace kolmo
