#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kolmo/op/registry.hpp"

namespace kolmo::cli {

/// Results with everything needed to know later what they are worth: version and commit, date, device,
/// driver, command, and per operator the hash of its CUDA sources.
class Record {
 public:
  /// `kind` is "validate", "bench" or "tune".
  Record(std::string_view kind, Device device, const std::string& command_line);
  void set(std::string_view key, nlohmann::ordered_json value) { json_[std::string(key)] = std::move(value); }
  void add(const OpEntry& entry, nlohmann::ordered_json results);
  /// The device as measured rather than as described.
  void set_peaks(const DeviceInfo& device);
  const nlohmann::ordered_json& json() const { return json_; }
  /// All or nothing: written beside the file, then renamed.
  void write(const std::string& file) const;

 private:
  nlohmann::ordered_json json_;
};

/// Prints the operators with CUDA sources that no passed "validate" record on a CUDA device in `folder`
/// covers as they are now.
void list_unverified(const std::string& folder, bool json);

}  // namespace kolmo::cli
