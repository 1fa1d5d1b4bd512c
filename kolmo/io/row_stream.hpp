#pragma once
#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "kolmo/io/header_guess.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo {

/// Reads the rows of a text table one by one, as they arrive: from a file up to its end, from a growing file,
/// or from a pipe ("-" is standard input). The text format is that of parse_text, except that a quoted cell
/// must end on its line. A last line without a line end counts at the end of the input; in a growing file its
/// end is waited for. A followed file that was renamed or removed is read to its end. Then the file that has
/// its name now is read, once there is one, without its first line if that holds the names of the columns.
/// Throws InvalidArgument, naming file and line, for text that parse_text refuses, for a file that becomes
/// shorter, for lines over longest_row, and for gzip, whose rows cannot be read as they arrive.
class RowStream {
 public:
  /// Waits for the first two rows or lines. `follow`: at the end of a regular file, wait for more. The stream
  /// ends within a tenth of a second after `stop` becomes true.
  /// `options.transpose` is not looked at.
  RowStream(const std::string& path, bool follow, const std::atomic<bool>& stop,
            const TableOptions& options = {});
  RowStream(const RowStream&) = delete;
  RowStream& operator=(const RowStream&) = delete;
  ~RowStream();

  /// Names and number of the columns, and the first rows: enough to choose columns.
  const Table& head() const { return head_; }
  /// The rows below a first row of numbers decide whether it may be a header: head() has its remarks after
  /// this many rows, or at the end.
  static constexpr std::int64_t judged_rows = 16;
  /// Reads the cells of the next row in the given columns, NaN if missing; returns false at the end. A cell
  /// that is neither a number nor missing throws InvalidArgument, naming its line and column.
  bool next(std::span<const std::size_t> columns, std::vector<double>& cells);

 private:
  void judge(const std::vector<RowSplitter::Field>& row);
  bool next_line(std::string& line);
  bool read_more();
  bool open_successor();
  [[noreturn]] void fail_at(std::size_t line, const std::string& what) const;

  const std::string path_, label_;
  const bool follow_;
  const TableOptions options_;
  const std::atomic<bool>& stop_;
  int descriptor_;
  bool regular_ = false, ended_ = false, at_successor_ = false,
       above_rows_ = false;  // of a file that followed another
  std::string buffer_;
  // Positions in buffer_: where the next line starts, and how far it was searched.
  std::size_t at_ = 0, searched_ = 0;
  std::uint64_t position_ = 0;  // position in the file
  std::size_t line_ = 0;
  RowSplitter::Skipped skipped_;

  Table head_;
  std::size_t head_rows_given_ = 0, cells_ = 0;
  char separator_ = ',';
  HeaderGuess guess_;
  std::int64_t judged_ = 0;
  std::size_t first_line_ = 0;
};

}  // namespace kolmo
