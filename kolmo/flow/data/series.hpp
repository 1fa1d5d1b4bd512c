#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/flow/option/option.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo {

enum class Transform : std::int32_t { none, difference, log, log_difference };
inline constexpr std::string_view transform_names[] = {"none", "difference", "log", "log-difference"};
constexpr std::span<const std::string_view> names_of(Transform) { return transform_names; }

/// Says what is standardised to mean 0 and standard deviation 1 (with the divisor n - 1; a constant is only
/// centred): the embedded columns, the series before embedding, or nothing.
enum class Standardize : std::int32_t { columns, series, none };
inline constexpr std::string_view standardize_names[] = {"columns", "series", "none"};
constexpr std::span<const std::string_view> names_of(Standardize) { return standardize_names; }

struct Preparation {
  Transform transform = Transform::none;
  Standardize standardize = Standardize::columns;
  double noise = 1e-8;  ///< standard deviation of the noise added after standardisation
  std::uint64_t seed = 0;

  static constexpr auto fields() {
    return told(list_of(
        value_option<&Preparation::transform>("transform", "done to every series first"),
        value_option<&Preparation::standardize>(
            "standardize", "mean 0, standard deviation 1 of embedded columns, of raw series, or of nothing")
            .of(OptionUse::ksg),
        value_option<&Preparation::noise>(
            "noise", 0.0, std::numeric_limits<double>::max(),
            "standard deviation of the noise added after that, which breaks ties")
            .shown_as("SD")
            .of(OptionUse::ksg)));
  }
};

/// Variables over time, ready to be embedded. Rows of one trial that follow each other without a gap in time, and in which each
/// of some variables has a value, form an observation set of these variables. An embedding lies in one set of its variables.
struct Series {
  std::string file;  ///< the source file, for messages
  std::vector<std::string> names;
  std::vector<std::int64_t> numbers;        ///< column indices in the file
  std::vector<std::uint64_t> keys;          ///< of the random numbers of each variable, see variable_keys
  std::vector<std::vector<double>> values;  ///< [variable][row], NaN where missing
  std::vector<std::vector<double>>
      noise;                      ///< [variable][row], added to standardised values; [variable] empty: none
  std::vector<double> deviation;  ///< [variable], the divisor already applied to `values`
  std::vector<std::int32_t>
      absence{};  ///< [variable], equal for variables that lack values in the same rows, 0 if in none
  std::int64_t length = 0;            ///< how many rows there are
  std::vector<std::int32_t> trial;    ///< trial of each row; empty if the table is one recording
  std::vector<std::int64_t> steps{};  ///< time of each row in steps; empty: the number of the row
  std::vector<bool> where{};          ///< rows that count as the present; empty: all
  std::int32_t sets = 0;              ///< observation sets of all variables together
  std::int64_t missing_rows = 0;      ///< rows of the table with a missing value
  Standardize standardize = Standardize::columns;

  std::int64_t rows() const { return length; }
  std::int64_t step(std::int64_t row) const { return steps.empty() ? row : steps[std::size_t(row)]; }
  /// Whether a row does not follow the row before it: it begins a trial, or rows between them are absent.
  bool begins(std::size_t row) const {
    return row == 0 || (!trial.empty() && trial[row] != trial[row - 1]) ||
           (!steps.empty() && steps[row] != steps[row - 1] + 1);
  }
};

/// The chosen columns of a table, transformed, standardised (for Standardize::series) and with their noise. A differenced series
/// starts at the second row. Throws InvalidArgument, naming file, column and row, for the logarithm of a number that is not
/// positive; for a column without values; and for numbers beyond 1e307.
Series make_series(const Table& table, std::span<const std::size_t> columns, const Preparation& preparation);

/// Whether the values that are not NaN are all equal.
bool is_constant(std::span<const double> values);

/// Numbers `absence` by the values that are missing.
void find_absences(Series& series);

/// Rows from `begin` to below `end` of one set.
struct Stretch {
  std::size_t begin, end;

  std::size_t size() const { return end - begin; }
};
/// The observation sets of some variables, in order, each of which is one stretch.
std::vector<Stretch> stretches(const Series& series, std::span<const std::int32_t> variables);
/// Those of all variables.
std::vector<Stretch> stretches(const Series& series);

struct Scaling {
  double mean = 0, deviation = 1;
};
/// Mean and deviation of the values that are not NaN; deviation 1 if they are all equal. Squares neither overflow nor vanish.
Scaling scaling_of(std::span<const double> values);

}  // namespace kolmo
