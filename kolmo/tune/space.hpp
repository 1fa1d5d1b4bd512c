#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace kolmo::tune {

/// A number to be chosen, e.g. {"threads", {1, 2, 4}}. Values are ordered such that neighbours behave
/// similarly.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> values;
};

/// One value for each parameter, in the order of the parameters.
using Values = std::vector<std::int64_t>;

/// The configurations to choose from: every combination of the parameters' values except those that
/// `feasible` rejects. Configurations are numbered from 0. `id` also counts the infeasible ones, so it does
/// not depend on feasibility. Throws InvalidArgument for a parameter without values or with a duplicate
/// value, and if nothing is feasible.
class Space {
 public:
  explicit Space(std::vector<Parameter> parameters, const std::function<bool(const Values&)>& feasible = {});

  std::span<const Parameter> parameters() const { return parameters_; }
  std::size_t size() const { return ids_.size(); }
  std::size_t combinations() const;
  std::size_t id(std::size_t config) const { return ids_[config]; }
  Values values(std::size_t config) const { return decode(ids_[config]); }
  /// The number of a configuration; size() if it is infeasible or not in this space.
  std::size_t find(const Values& values) const;
  /// Configurations that differ in one parameter by one step.
  std::vector<std::size_t> neighbours(std::size_t config) const;
  /// Describes a configuration: "block=256 threads=2".
  std::string describe(std::size_t config) const;

 private:
  Values decode(std::size_t id) const;
  std::vector<Parameter> parameters_;
  std::vector<std::size_t> ids_;  // ascending
};

}  // namespace kolmo::tune
