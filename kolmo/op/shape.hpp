#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

/// Binds the names in the shapes of the given inputs, checking ranks, extents, dtypes, contiguity and device;
/// then option ranges. Throws InvalidArgument naming operator and argument.
Dims bind_inputs(const OpBase& op, const void* args, Device device);

/// The dtype shared by the fields that accept several: that of the first such input given, else the one the
/// first such output has, or else accepts.
DType common_dtype(const OpBase& op, const void* args);

/// The extents a field must have, from bound names, integer options and the operator's `sizes`.
std::vector<std::int64_t> extents_of(const OpBase& op, const FieldInfo& field, const void* args,
                                     const Dims& dims);

/// Splits "a b c" at spaces.
std::vector<std::string_view> words(std::string_view text);

}  // namespace kolmo
