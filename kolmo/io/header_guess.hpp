#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kolmo/io/row_splitter.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo {

/// Judges whether a first row of numbers may be a header, which the row alone does not show. It may be one if
/// its cells are different whole numbers and
/// - each is the one before plus 1 (at least three, or two from 0 or 1 on), and no row below is like that; or
/// - every row below holds a number that is written with a fraction or exponent; if there is one column, the
///   first number must also lie outside of the others' range.
/// It is not a header if a column continues it in equal steps, as a column of times does.
class HeaderGuess {
 public:
  using Row = std::vector<RowSplitter::Field>;

  void first(const Row& row);
  void add(const Row& row);
  bool likely() const;
  /// What to say if the row may be a header.
  static Remark remark(std::size_t line);

 private:
  void follow_steps(const Row& row);

  bool ascending_ = false, whole_ = false;
  std::size_t cells_ = 0, rows_ = 0;
  // For each column; a step of NaN means that steps are not equal.
  std::vector<double> last_, step_;
  double value_ = 0;  // value of the first row, if it is one cell
  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
};

}  // namespace kolmo
