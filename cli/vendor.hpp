#pragma once
#include <string>

#include "kolmo/op/registry.hpp"

namespace kolmo::cli {

/// Names the vendor's library, such as "cuBLASLt 13.0.2: <its file>", or says why it is not used; empty in a
/// build without CUDA.
std::string vendor_library_text();
/// Whether an operator has a variant on CUDA that calls a vendor's library.
bool calls_vendor_library(const OpEntry& entry);

}  // namespace kolmo::cli
