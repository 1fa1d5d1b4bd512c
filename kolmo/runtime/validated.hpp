#pragma once
#include <string_view>

namespace kolmo {

/// Whether Kolmo's operators were validated on a GPU of this compute capability, such as "9.0"; for others they
/// are only compiled. `results/*/validate.json` holds the evidence.
constexpr bool validated_on(std::string_view capability) { return capability == "9.0"; }

}  // namespace kolmo
