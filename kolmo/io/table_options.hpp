#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kolmo {

/// Whether the first row of a text table is a header: decided by its cells, always, or never.
enum class Header : std::int32_t { automatic, yes, no };
inline constexpr std::string_view header_names[] = {"auto", "yes", "no"};

/// What lines are that begin with % or #: comments above the first row of numbers, comments wherever they stand, or rows.
enum class Comments : std::int32_t { above, anywhere, none };
inline constexpr std::string_view comments_names[] = {"above", "anywhere", "none"};

/// How cells are written.
struct CellFormat {
  char decimal = '.';  ///< either '.' or ','
  /// What means a missing value besides the usual marks. Numbers are compared by their value.
  std::vector<std::string> missing;
  /// Infinities are numbers, read as +infinity, and NaN is read as -infinity. Only what is left empty or marked otherwise is missing.
  bool infinite_is_number = false;
};

/// How a table is read.
struct TableOptions {
  Header header = Header::automatic;
  CellFormat cells;
  bool transpose = false;  ///< rows of the file are columns of the table
  Comments comments = Comments::above;
};

/// The longest row of a text table in bytes, with its line ends, and the most cells in one.
inline constexpr std::size_t longest_row = std::size_t(16) << 20;
inline constexpr std::size_t most_columns = 100000;

}  // namespace kolmo
