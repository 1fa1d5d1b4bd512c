#pragma once
#include <nlohmann/json.hpp>

#include "kolmo/op/registry.hpp"
#include "kolmo/runtime/device.hpp"

namespace kolmo::cli {

nlohmann::ordered_json device_json(const DeviceInfo& device);
nlohmann::ordered_json op_json(const OpEntry& entry);

}  // namespace kolmo::cli
