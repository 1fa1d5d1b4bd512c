#include "kolmo/io/text_rows.hpp"

#include <algorithm>

#include "kolmo/base/error.hpp"
#include "kolmo/io/other_formats.hpp"
#include "kolmo/io/table_options.hpp"

namespace kolmo {
namespace {

constexpr std::size_t largest_piece = std::size_t(256) << 10;
constexpr std::size_t sampled_bytes = std::size_t(1) << 20;

}  // namespace

TextRows::TextRows(ByteReader& bytes, const std::string& name, const TableOptions& options)
    : bytes_(bytes), name_(name), comments_(options.comments) {
  refuse_other_formats(bytes.peek(format_bytes), name);
  const std::string_view mark = "\xEF\xBB\xBF";
  const bool marked = bytes.peek(mark.size()) == mark;
  more();
  if (marked) drop(mark.size());
  require(!window_.empty(), name + ": the file is empty");
  skip_to_first_row();
  sample(options.cells.decimal);
  splitter_.emplace(window_, separator_, name_, comments_, line_, ended_);
}

bool TextRows::next(std::vector<RowSplitter::Field>& fields) {
  for (skipped_ = {};;) {
    const bool found = splitter_->next(fields);
    skipped_.add(splitter_->skipped());
    if (found || ended_) return found;
    line_ = splitter_->next_line();
    drop(splitter_->position());
    more();
    splitter_.emplace(window_, separator_, name_, comments_, line_, ended_);
  }
}

void TextRows::refuse_skipped() const {
  if (skipped_.blank) fail_at(skipped_.blank, blank_between_rows);
  if (skipped_.comment && comments_ == Comments::above) fail_at(skipped_.comment, comment_between_rows);
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
    if (const std::string known = other_format_by_name(name_); !known.empty())
      fail<InvalidArgument>(name_ + ": " + known);
    const auto end = window_.begin() + std::ptrdiff_t(zero);
    fail_at(line_ + std::size_t(std::count(window_.begin(), end, '\n')),
            "not a text file (it holds a zero byte)");
  }
  return true;
}

/// Skips comments and blank lines at the start, so that long ones are not kept.
void TextRows::skip_to_first_row() {
  for (bool found = false; !found;) {
    RowSplitter start(window_, '\t', name_, comments_, line_, ended_);
    found = start.find_row();
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
  } while (count_first_rows(rows, sampled_rows, comments_) < sampled_rows && window_.size() < sampled_bytes &&
           more());
  separator_ = find_separator(rows, decimal, comments_, name_);
}

void TextRows::drop(std::size_t n) {
  window_.erase(0, n);
  before_ += n;
}

void TextRows::fail_at(std::size_t line, const std::string& what) const {
  fail<InvalidArgument>(name_ + ":" + std::to_string(line) + ": " + what);
}

}  // namespace kolmo
