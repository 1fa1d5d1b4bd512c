#include "kolmo/io/row_stream.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "kolmo/base/error.hpp"
#include "kolmo/io/cell.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/gzip.hpp"
#include "kolmo/io/row_splitter.hpp"
#include "kolmo/io/text_reader.hpp"

namespace kolmo {
namespace {

using Row = std::vector<RowSplitter::Field>;

/// Whether a line is neither blank nor a comment.
bool holds_a_row(const std::string& line, Comments comments) {
  return count_first_rows(line, 1, comments) > 0;
}

}  // namespace

RowStream::RowStream(const std::string& path, bool follow, const std::atomic<bool>& stop,
                     const TableOptions& options)
    : path_(path),
      label_(file_label(path)),
      follow_(follow),
      options_(options),
      stop_(stop),
      descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0)
    fail<InvalidArgument>(label_ + ": cannot be read: " + std::strerror(errno));
  try {
    if (S_ISDIR(status.st_mode)) fail<InvalidArgument>(label_ + ": is a directory, not a file");
    regular_ = S_ISREG(status.st_mode);
    std::string text, line;
    for (int rows = 0; rows < 2 && next_line(line); text += line)
      rows += holds_a_row(line, options_.comments);
    if (stop_) return;
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    if (is_gzip(text))
      fail<InvalidArgument>(label_ +
                            ": is gzip, whose rows cannot be had as they arrive; try gunzip -c FILE | "
                            "kolmo stream -");
    TableOptions head_options = options_;
    head_options.transpose = false;
    head_ = parse_text(text, label_, head_options);
    separator_ = find_separator(text, options_.cells.decimal, options_.comments, label_);
    RowSplitter splitter(text, separator_, label_, options_.comments);
    Row row;
    for (bool first = true; splitter.next(row); first = false) {
      if (first) cells_ = row.size(), first_line_ = splitter.line();
      judge(row);
    }
  } catch (...) {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
    throw;
  }
}

RowStream::~RowStream() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

bool RowStream::next(std::span<const std::size_t> columns, std::vector<double>& cells) {
  cells.clear();
  if (head_rows_given_ < head_.rows()) {
    for (const std::size_t c : columns) cells.push_back(head_.columns[c][head_rows_given_]);
    ++head_rows_given_;
    return true;
  }
  std::string line;
  while (next_line(line)) {
    RowSplitter splitter(line, separator_, label_, options_.comments, line_);
    Row row;
    if (!splitter.next(row)) {
      skipped_.add(splitter.skipped());
      continue;
    }
    if (skipped_.blank) fail_at(skipped_.blank, blank_between_rows);
    const std::size_t comment = std::exchange(skipped_.comment, 0);
    if (comment && !above_rows_ && options_.comments == Comments::above)
      fail_at(comment, comment_between_rows);
    if (std::exchange(at_successor_, false) && head_.named && row.size() == cells_ &&
        std::all_of(columns.begin(), columns.end(),
                    [&](std::size_t c) { return row[c].text == head_.names[c]; }))
      continue;
    if (row.size() != cells_)
      fail_at(line_, "the row has " + std::to_string(row.size()) + (row.size() == 1 ? " cell" : " cells") +
                         ", the first one has " + std::to_string(cells_));
    above_rows_ = false;
    judge(row);
    for (const std::size_t c : columns) {
      const Cell cell = parse_cell(row[c].text, options_.cells);
      if (cell.kind != Cell::number && cell.kind != Cell::missing)
        fail_at(line_, column_label(head_, c) + ": " + explain(row[c].text, cell.kind, options_.cells));
      cells.push_back(cell.value);
    }
    return true;
  }
  return false;
}

void RowStream::judge(const std::vector<RowSplitter::Field>& row) {
  if (options_.header != Header::automatic || head_.named || judged_ == judged_rows) return;
  if (judged_++ == 0)
    guess_.first(row);
  else
    guess_.add(row);
  head_.remarks.clear();
  if (guess_.likely()) head_.remarks.push_back(HeaderGuess::remark(first_line_));
}

/// Reads a line together with its line end, if it has one.
bool RowStream::next_line(std::string& line) {
  for (;;) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end != std::string::npos) {
      line = buffer_.substr(at_, end + 1 - at_);
      at_ = searched_ = end + 1;
      ++line_;
      return true;
    }
    searched_ = buffer_.size();
    buffer_.erase(0, at_);
    searched_ -= at_, at_ = 0;
    if (buffer_.size() > longest_row)
      fail_at(line_ + 1, "the line is longer than " + std::to_string(longest_row >> 20) + " MiB");
    if (!read_more()) break;
  }
  if (stop_ || buffer_.empty()) return false;
  line = std::exchange(buffer_, {});
  searched_ = 0;
  ++line_;
  return true;
}

bool RowStream::read_more() {
  constexpr int tenth_of_a_second = 100, soon = 20;
  constexpr std::size_t piece = 1 << 16;
  const std::size_t had = buffer_.size();
  for (; !stop_ && !ended_;) {
    struct pollfd readable {
      descriptor_, POLLIN, 0
    };
    if (!regular_ && ::poll(&readable, 1, tenth_of_a_second) <= 0) continue;
    buffer_.resize(had + piece);
    const ssize_t n = ::read(descriptor_, buffer_.data() + had, piece);
    const int error = errno;
    buffer_.resize(had + std::size_t(std::max<ssize_t>(n, 0)));
    position_ += std::uint64_t(std::max<ssize_t>(n, 0));
    if (n > 0) return true;
    if (n < 0 && error != EINTR) fail<InvalidArgument>(label_ + ": cannot be read: " + std::strerror(error));
    if (n < 0) continue;
    ended_ = !(follow_ && regular_);
    if (ended_) break;
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0 && std::uint64_t(status.st_size) < position_)
      fail<InvalidArgument>(label_ + ": became shorter while it was followed");
    struct stat named {};
    if (std::uint64_t(status.st_size) == position_ && ::stat(path_.c_str(), &named) == 0 &&
        (named.st_dev != status.st_dev || named.st_ino != status.st_ino)) {
      // The line was cut off by the end, so it is the last one.
      if (!buffer_.empty() && buffer_.back() != '\n') {
        buffer_ += '\n';
        return true;
      }
      if (open_successor()) continue;
    }
    ::poll(nullptr, 0, soon);
  }
  return false;
}

/// Continues with the file that has the name now.
bool RowStream::open_successor() {
  const int next = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (next < 0) return false;
  struct stat status {};
  if (::fstat(next, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(next);
    fail<InvalidArgument>(label_ + ": was replaced by something that is not a regular file");
  }
  ::close(descriptor_);
  descriptor_ = next;
  position_ = 0, line_ = 0, skipped_ = {}, at_successor_ = above_rows_ = true;
  return true;
}

void RowStream::fail_at(std::size_t line, const std::string& what) const {
  fail<InvalidArgument>(label_ + ":" + std::to_string(line) + ": " + what);
}

}  // namespace kolmo
