#pragma once
#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "kolmo/io/table.hpp"

namespace kolmo {

/// Rows of a text table one by one, as they come: of a file to its end, of a file that grows, or of a pipe
/// ("-" is standard input). The text is that of parse_text, but a quoted cell ends on its line. A last line
/// without a line end counts at the end of the input; of a file that grows it is waited for. InvalidArgument,
/// naming file and line, for what parse_text refuses, for a file that becomes shorter and for lines over 64
/// MiB.
class RowStream {
 public:
  /// Waits for the first two rows or lines. `follow`: at the end of a regular file, wait for more. `stop`
  /// ends the stream within a tenth of a second of becoming true.
  RowStream(const std::string& path, bool follow, const std::atomic<bool>& stop);
  RowStream(const RowStream&) = delete;
  RowStream& operator=(const RowStream&) = delete;
  ~RowStream();

  /// Names and number of the columns, and the first rows, to choose columns from.
  const Table& head() const { return head_; }
  /// The cells of the next row in the given columns, NaN where missing; false at the end. A cell that is
  /// neither a number nor missing raises InvalidArgument, naming its line and column.
  bool next(std::span<const std::size_t> columns, std::vector<double>& cells);

 private:
  bool next_line(std::string& line);
  bool read_more();
  [[noreturn]] void fail_at(std::size_t line, const std::string& what) const;

  const std::string label_;
  const bool follow_;
  const std::atomic<bool>& stop_;
  int descriptor_;
  bool regular_ = false, ended_ = false;
  std::string buffer_;
  std::size_t at_ = 0, searched_ = 0;  // of buffer_: the next line starts; no line end before
  std::uint64_t position_ = 0;         // in the file
  std::size_t line_ = 0, blank_line_ = 0;

  Table head_;
  std::size_t head_rows_given_ = 0, cells_ = 0;
  char separator_ = ',';
};

}  // namespace kolmo
