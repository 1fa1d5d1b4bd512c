#pragma once
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/analysis_call.hpp"
#include "cli/context.hpp"
#include "cli/estimator_options.hpp"
#include "cli/input_options.hpp"
#include "kolmo/flow/data/warning.hpp"
#include "kolmo/flow/estimate/estimate.hpp"
#include "kolmo/flow/test/statistics.hpp"

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

/// For the footer of a command's help.
inline constexpr char columns_help[] =
    "COLS are 0-based indices, ranges of them (3-40, 40 included) or header names, comma-separated. A name "
    "that\n"
    "looks like an index or a range, or holds a comma, goes in double quotes: '\"3-40\"'.";

/// FILE and the options common to entropy, mi, te, ais, network and stream.
struct AnalysisOptions {
  AnalysisCall* call =
      nullptr;  ///< of the Context; where it is, the table comes from it and nothing is printed
  std::string file, rows, trials;
  Preparation preparation;
  EstimatorOptions estimator;
  PValue p_value = PValue::plus_one;
  std::int32_t units = 0, precision = 0;
  bool json = false;
  DeviceOptions device;
  InputOptions input;

  /// `surrogates`: default number, -1 for a command without surrogates.
  void add(CLI::App& command, std::int64_t surrogates,
           SurrogateMethod surrogate_type = SurrogateMethod::circular);
  /// Checks that the parser cannot do.
  void prepare();
  void add_strict(CLI::App& command);
  /// --trials and --theiler-scope, for commands that read a whole file.
  void add_trials(CLI::App& command);
  void add_estimator(CLI::App& command) { kind_.add(command, estimator); }
  /// Opens the stream to work on, after the options of the estimator were checked.
  Stream open();
  /// The same while the caller reads, since CUDA starts slowly. Called as a function, get() opens it.
  std::future<Stream> opening();
  /// The chosen rows of the file, after prepare().
  Table load();
  /// Says something on standard error.
  void note(const std::string& text) const;
  /// Says what is noteworthy about the data, in notes. Ordinal patterns if the estimator is ordinal.
  Series series(const Table& table, std::span<const std::size_t> columns);
  /// What a reader remarked about the file, as warnings.
  void warn_of(const Table& table);
  /// The column of --trials, which is no variable.
  std::optional<std::size_t> trial_column() const { return trial_column_; }
  /// Prints warnings and keeps them for the result; with --strict throws InvalidArgument for the first.
  void warn(const std::vector<Warning>& more);
  const std::vector<Warning>& warnings() const { return warnings_; }
  bool bits() const { return units == 1; }
  std::string unit() const { return bits() ? "bits" : "nats"; }
  double factor() const;
  /// Options that another command needs for the same estimate, with their values: those that are not the default, but
  /// for --min-shift, which each link has of its own.
  std::vector<std::pair<std::string, std::string>> used_in_commands() const;
  /// All options with the values used, by name.
  nlohmann::ordered_json used() const;

 private:
  void set_trials(Table& table);

  bool with_surrogates_ = false, strict_ = false;
  std::optional<std::size_t> trial_column_;
  EstimatorFlags kind_;
  std::vector<Warning> warnings_;
};

/// Columns of a table as variables of one series; each column occurs once, even if it has several roles.
class Variables {
 public:
  explicit Variables(const Table& table) : table_(table) {}
  /// The variables that `spec` names.
  std::vector<std::int32_t> add(const std::string& spec);
  /// The same without those that `excluded` names, and without `column`.
  std::vector<std::int32_t> add_all_but(const std::string& spec, const std::string& excluded,
                                        std::optional<std::size_t> column);
  /// The values that `spec` lists: COL, COL:LAG or COL:FIRST-LAST, comma-separated; without a lag, lag 1.
  Coordinates add_lagged(const std::string& spec, const std::string& option);
  /// The one variable that `spec` names; `option` is for the message if there are more.
  std::int32_t add_one(const std::string& spec, const std::string& option);
  std::span<const std::size_t> columns() const { return columns_; }
  std::string label(std::int32_t variable) const;
  std::vector<std::int32_t> add(std::span<const std::size_t> columns);

 private:
  const Table& table_;
  std::vector<std::size_t> columns_;
};

}  // namespace kolmo::cli
