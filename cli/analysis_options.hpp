#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "kolmo/flow/estimate.hpp"
#include "kolmo/flow/statistics.hpp"

namespace CLI {
class Option;
}

namespace kolmo::cli {

/// An option that takes one of `names`; the value is the index of the name.
CLI::Option* add_choice(CLI::App& command, const std::string& name, std::int32_t& value,
                        std::span<const std::string_view> names, const std::string& help);
template <class E>
CLI::Option* add_choice(CLI::App& command, const std::string& name, E& value,
                        std::span<const std::string_view> names, const std::string& help) {
  static_assert(std::is_enum_v<E> && std::is_same_v<std::underlying_type_t<E>, std::int32_t>);
  return add_choice(command, name, reinterpret_cast<std::int32_t&>(value), names, help);
}
/// A whole number in [low, high].
CLI::Option* add_count(CLI::App& command, const std::string& name, std::int64_t& value, std::int64_t low,
                       std::int64_t high, const std::string& help);

/// FILE and the options common to entropy, mi, te, ais, network and stream.
struct AnalysisOptions {
  std::string file, rows;
  Preparation preparation;
  EstimatorOptions estimator;
  PValue p_value = PValue::plus_one;
  std::int32_t units = 0, precision = 0;
  bool json = false;
  DeviceOptions device;

  /// `surrogates`: how many by default, -1 for a command that makes none.
  void add(CLI::App& command, std::int64_t surrogates);
  /// Checks what the parser could not.
  void prepare();
  /// The chosen rows of the file, after prepare().
  Table load();
  Series series(const Table& table, std::span<const std::size_t> columns) const;
  bool bits() const { return units == 1; }
  std::string unit() const { return bits() ? "bits" : "nats"; }
  double factor() const;
  /// Every option that was used, by name.
  nlohmann::ordered_json used() const;

 private:
  bool with_surrogates_ = false;
};

/// Columns of a table as variables of one series: each column once, whatever its roles.
class Variables {
 public:
  explicit Variables(const Table& table) : table_(table) {}
  /// The variables that `spec` names.
  std::vector<std::int32_t> add(const std::string& spec);
  /// The one variable that `spec` names; `option` is for the message if there are more.
  std::int32_t add_one(const std::string& spec, const std::string& option);
  std::span<const std::size_t> columns() const { return columns_; }
  std::string label(std::int32_t variable) const;

 private:
  const Table& table_;
  std::vector<std::size_t> columns_;
};

}  // namespace kolmo::cli
