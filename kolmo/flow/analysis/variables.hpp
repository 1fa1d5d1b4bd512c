#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kolmo/flow/data/embedding.hpp"
#include "kolmo/flow/option/option.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo {

/// Columns of a table as variables of one series; each column occurs once, even if it has several roles. Errors name the
/// option, as on the command line.
class Variables {
 public:
  explicit Variables(const Table& table) : table_(table) {}
  /// The variables that `columns` name; none for no columns.
  std::vector<std::int32_t> add(const Columns& columns);
  std::vector<std::int32_t> add(std::span<const std::size_t> columns);
  /// The one variable that `columns` name; `option` is for the message if there are more or none.
  std::int32_t add_one(const Columns& columns, const std::string& option);
  /// The values that `lagged` lists: COL, COL:LAG or COL:FIRST-LAST, comma-separated; without a lag, lag 1.
  Coordinates add_lagged(const Columns& lagged, const std::string& option);

  std::span<const std::size_t> columns() const { return columns_; }
  std::string label(std::int32_t variable) const;
  /// "a,b"
  std::string labels(std::span<const std::int32_t> variables) const;

 private:
  const Table& table_;
  std::vector<std::size_t> columns_;
};

/// Lags such as "1-2,4", each once, from 0 on. Throws InvalidArgument, naming the option, for anything else.
std::vector<std::int64_t> lags_of(const std::string& text, const std::string& option);

/// The values that the option --given lists. Throws InvalidArgument, naming the column, for one of `links`.
Coordinates conditions(const Columns& given, Variables& variables, std::span<const std::int32_t> links);

}  // namespace kolmo
