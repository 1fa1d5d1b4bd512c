#pragma once
#include "kolmo/op/define.hpp"

namespace kolmo {

/// Binds the names in the shapes of the given inputs, checking ranks, extents, dtypes, contiguity and device;
/// then checks option ranges. Throws InvalidArgument naming operator and argument.
Dims bind_inputs(const OpBase& op, const void* args, Device device);

/// The dtype of "T", or of the first variable that a given input has. Without one, that of the first output
/// that accepts several dtypes, or else the first dtype it accepts.
DType common_dtype(const OpBase& op, const void* args);

/// The extents a field must have, from bound names, integer options and the operator's `sizes` function.
/// Throws InvalidArgument if one is negative, or too large to be counted.
Extents extents_of(const OpBase& op, const FieldInfo& field, const void* args, const Dims& dims);

/// The dtype an output must have. If no input has the output's variable, the first such output binds it.
DType bind_output_dtype(const FieldInfo& field, const void* args, Dims& dims);

/// Throws InvalidArgument, naming operator and argument, if a tensor of these extents has more than 2^63 - 1
/// bytes, so that its size cannot be counted. An extent of 0 counts as 1, as strides do.
void check_countable(const OpBase& op, const FieldInfo& field, std::span<const std::int64_t> extents,
                     DType dtype);

/// Splits "a b c" at spaces.
std::vector<std::string_view> words(std::string_view text);

/// Rethrows the exception being handled, with the operator's name in front of its message, and the argument's
/// name if it can be found.
[[noreturn]] void rethrow_named(const OpBase& op, const void* args);
template <class F>
decltype(auto) named(const OpBase& op, const void* args, F&& work) {
  try {
    return work();
  } catch (const Error&) {
    rethrow_named(op, args);
  }
}

}  // namespace kolmo
