#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kolmo/op/registry.hpp"
#include "kolmo/runtime/device.hpp"

namespace kolmo::cli {

/// Results with the conditions of their measurement: version and commit, date, device, driver, command, and
/// the hash of each operator's CUDA sources.
class Record {
 public:
  /// `kind` is "validate", "bench" or "tune".
  Record(std::string_view kind, Device device, const std::string& command_line);
  void set(std::string_view key, nlohmann::ordered_json value) { json_[std::string(key)] = std::move(value); }
  void add(const OpEntry& entry, nlohmann::ordered_json results);
  /// Replaces the peak rates that the device's description gives by measured ones.
  void set_peaks(const DeviceInfo& device);
  const nlohmann::ordered_json& json() const { return json_; }
  /// Writes the record to a temporary file that is then renamed, so that a file is never written in part.
  void write(const std::string& file) const;

 private:
  nlohmann::ordered_json json_;
};

/// Prints the operators whose current CUDA sources no passed "validate" record of a CUDA device, in `folder`
/// or below it, covers.
void list_unverified(const std::string& folder, bool json);

}  // namespace kolmo::cli
