#pragma once
#include "kolmo/op/impl.hpp"
#include "kolmo/op/op.hpp"

namespace kolmo {

/// Takes the workspace of an inner operator within the layout of an outer operator. Layout and launch each
/// choose the inner row, and the layout does so without pointers: `fits`, `preferred` and the layout of an
/// operator that runs inside another depend on shapes, dtypes, options and the device only.
void lay_inside(const OpBase& op, const void* args, Arena& arena, const Site& site);

/// Runs an operator as a part of another: its default variant, without checking arguments and without
/// allocating. The workspace comes from the outer operator's arena, at the same point as in its layout.
void run_inside(const OpBase& op, const void* args, Arena& arena, Stream& stream);

}  // namespace kolmo
