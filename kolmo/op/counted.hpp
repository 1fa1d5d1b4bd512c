#pragma once
#include "kolmo/op/define.hpp"

namespace kolmo {

/// An output whose length is known only after the run (FieldInfo::counted_by) is allocated with the size of
/// its capacity. Its counter, an i64 output without dimensions, is set to the number of elements found;
/// elements beyond the capacity are counted but not written. Returns the written part of the output, with
/// results in host memory. `lost` is set to the number of elements beyond the capacity.
Tensor counted_part(const OpBase& op, const FieldInfo& field, const void* args, std::int64_t& lost);

}  // namespace kolmo
