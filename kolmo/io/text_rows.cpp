#include "kolmo/io/text_rows.hpp"

#include <algorithm>

#include "kolmo/base/error.hpp"
#include "kolmo/io/table_options.hpp"

namespace kolmo {
namespace {

constexpr std::size_t largest_piece = std::size_t(256) << 10;
constexpr std::size_t sampled_bytes = std::size_t(1) << 20;

void refuse_other_formats(std::string_view start, const std::string& name) {
  struct Format {
    std::string_view magic;
    const char* what;
  };
  static constexpr Format formats[] = {{"\x1f\x8b", "a gzip archive within another"},
                                       {"PK\3\4", "a zip archive (.zip, .npz, .xlsx)"},
                                       {"BZh", "a bzip2 archive"},
                                       {"\xFD"
                                        "7zXZ",
                                        "an xz archive"},
                                       {"\x28\xB5\x2F\xFD", "a zstd archive"},
                                       {"\x89HDF", "an HDF5 file"},
                                       {"\xD0\xCF\x11\xE0", "an Excel file"},
                                       {"PAR1", "a Parquet file"},
                                       {"\xFF\xFE", "UTF-16 text, not UTF-8"},
                                       {"\xFE\xFF", "UTF-16 text, not UTF-8"}};
  for (const Format& format : formats) {
    if (start.starts_with(format.magic))
      fail<InvalidArgument>(name + ": is " + format.what + "; want CSV, TSV or NPY");
  }
}

}  // namespace

TextRows::TextRows(ByteReader& bytes, const std::string& name, char decimal) : bytes_(bytes), name_(name) {
  refuse_other_formats(bytes.peek(8), name);
  const std::string_view mark = "\xEF\xBB\xBF";
  const bool marked = bytes.peek(mark.size()) == mark;
  more();
  if (marked) drop(mark.size());
  require(!window_.empty(), name + ": the file is empty");
  skip_to_first_row();
  sample(decimal);
  splitter_.emplace(window_, separator_, name_, line_, ended_);
}

bool TextRows::next(std::vector<RowSplitter::Field>& fields, std::size_t& blank_line) {
  std::size_t first_blank = 0;
  for (;;) {
    const bool found = splitter_->next(fields, blank_line);
    if (!first_blank) first_blank = blank_line;
    if (found || ended_) {
      blank_line = first_blank;
      return found;
    }
    line_ = splitter_->next_line();
    drop(splitter_->position());
    more();
    splitter_.emplace(window_, separator_, name_, line_, ended_);
  }
}

/// Reads at least as much again as the window holds, so that a long row is not split many times.
bool TextRows::more() {
  if (ended_) return false;
  const std::size_t had = window_.size();
  if (had > longest_row)
    fail_at(line_, "the row is longer than " + std::to_string(longest_row >> 20) + " MiB");
  const std::size_t wanted = std::min(std::max(piece_, had), longest_row + 1 - had);
  piece_ = std::min(2 * piece_, largest_piece);
  window_.resize(had + wanted);
  const std::size_t got = bytes_.read(window_.data() + had, wanted);
  window_.resize(had + got);
  ended_ = got < wanted;
  const std::size_t zero = window_.find('\0', had);
  if (zero != std::string::npos) {
    const auto end = window_.begin() + std::ptrdiff_t(zero);
    fail_at(line_ + std::size_t(std::count(window_.begin(), end, '\n')),
            "not a text file (it holds a zero byte)");
  }
  return true;
}

/// Skips comments and blank lines at the start, so that long ones are not kept.
void TextRows::skip_to_first_row() {
  for (bool found = false; !found;) {
    RowSplitter start(window_, '\t', name_, line_, ended_);
    std::size_t blank_line = 0;
    found = start.find_row(blank_line);
    line_ = start.next_line();
    drop(start.position());
    if (!found && !more())
      fail<InvalidArgument>(name_ + ": the file holds no rows, only comments or empty lines");
  }
}

void TextRows::sample(char decimal) {
  std::string_view rows;
  do {
    const std::size_t lines = window_.find_last_of("\r\n");
    rows = std::string_view(window_).substr(0, ended_ || lines == std::string::npos ? window_.size() : lines);
  } while (count_first_rows(rows, sampled_rows) < sampled_rows && window_.size() < sampled_bytes && more());
  separator_ = find_separator(rows, decimal);
  if (decimal == ',' && separated_by_commas(rows))
    fail<InvalidArgument>(name_ +
                          ": --decimal , needs columns that are separated by semicolons, tabs or blanks; "
                          "commas separate the columns of this file");
}

void TextRows::drop(std::size_t n) {
  window_.erase(0, n);
  before_ += n;
}

void TextRows::fail_at(std::size_t line, const std::string& what) const {
  fail<InvalidArgument>(name_ + ":" + std::to_string(line) + ": " + what);
}

}  // namespace kolmo
