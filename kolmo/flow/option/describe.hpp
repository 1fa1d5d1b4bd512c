#pragma once
#include <nlohmann/json_fwd.hpp>

#include "kolmo/flow/option/option.hpp"

namespace kolmo {

/// Describes an option as JSON: name, alias, kind, default, bounds, choices, help. `usual` is a request with the usual values.
nlohmann::ordered_json describe(const OptionInfo& option, const void* usual);

}  // namespace kolmo
