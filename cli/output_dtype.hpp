#pragma once
#include <string_view>

#include "kolmo/op/registry.hpp"

namespace kolmo::cli {

/// Asks for a dtype of the outputs, before infer_outputs(): those that can have it do where no input decides.
void ask_for_dtype(const OpEntry& entry, void* args, DType wanted);

/// After infer_outputs(): throws InvalidArgument, naming operator, output and dtype, if a given output that can have the
/// dtype asked for has another, or none can have it.
void require_dtype(const OpEntry& entry, const void* args, DType wanted);

}  // namespace kolmo::cli
