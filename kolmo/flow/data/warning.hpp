#pragma once
#include <map>
#include <string>
#include <vector>

namespace kolmo {

/// A warning tells of something in the data, the options or the result that may make the result misleading.
struct Warning {
  std::string name;  ///< in lower_case; every output has the same name
  std::string text;  ///< names the variables
};

/// Gathers the variables that share a warning.
class SharedWarnings {
 public:
  void add(const std::string& name, const std::string& variable) { all_[name].push_back(variable); }
  /// Appends the warning if any variable has it. Its text lists the variables and goes on with `text`.
  void tell(const std::string& name, const std::string& text, std::vector<Warning>& warnings) const;

 private:
  std::map<std::string, std::vector<std::string>> all_;
};

}  // namespace kolmo
