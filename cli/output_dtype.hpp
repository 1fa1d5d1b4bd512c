#pragma once
#include <string_view>

#include "kolmo/op/registry.hpp"

namespace kolmo::cli {

/// Asks for a dtype of the outputs, before infer_outputs(). Outputs that can have it get it, unless an input
/// decides their dtype.
void ask_for_dtype(const OpEntry& entry, void* args, DType wanted);

/// Checks the dtype that was asked for, after infer_outputs(). Throws InvalidArgument, naming operator,
/// output and dtype, if a given output could have that dtype and has another, or if no output can have it.
void require_dtype(const OpEntry& entry, const void* args, DType wanted);

}  // namespace kolmo::cli
