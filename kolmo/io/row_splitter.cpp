#include "kolmo/io/row_splitter.hpp"

#include <algorithm>

#include "kolmo/base/error.hpp"
#include "kolmo/io/table_options.hpp"

namespace kolmo {
namespace {

bool starts_comment(std::string_view rest, Comments comments) {
  if (comments == Comments::none) return false;
  return rest.starts_with('%') || (rest.starts_with('#') && !rest.starts_with("#N/A"));
}

/// The number of occurrences of `separator` in a row, outside quotes.
std::size_t count_separators(std::string_view row, char separator) {
  std::size_t n = 0;
  bool open = false, cell_starts = true;
  for (const char c : row) {
    if (c == '"' && (open || cell_starts)) open = !open;
    n += !open && c == separator;
    cell_starts = c == ';' || c == '\t' || c == ',' || (c == '"' && !open) || (cell_starts && c == ' ');
  }
  return n;
}

std::vector<std::string_view> first_rows(std::string_view content, std::size_t enough, Comments comments) {
  std::vector<std::string_view> rows;
  while (rows.size() < enough && !content.empty()) {
    const std::size_t length = std::min(content.find_first_of("\r\n"), content.size());
    std::string_view row = content.substr(0, length);
    row.remove_prefix(std::min(row.find_first_not_of(" \t"), row.size()));
    if (!row.empty() && !starts_comment(row, comments)) rows.push_back(row);
    content.remove_prefix(std::min(length + 1, content.size()));
  }
  return rows;
}

/// What commas do in a table that was said to have decimal commas.
struct CommaUse {
  bool separate =
      false;  ///< a cell between blanks, semicolons or tabs, outside quotes, holds two, or one that is not beside digits
  bool quoted = false;  ///< a cell in quotes holds one
};

CommaUse commas_in(const std::vector<std::string_view>& rows) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  CommaUse use;
  for (const std::string_view row : rows) {
    bool open = false, comma_in_cell = false;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const char c = row[i], before = i > 0 ? row[i - 1] : ' ', after = i + 1 < row.size() ? row[i + 1] : ' ';
      if (c == '"') open = !open;
      use.quoted |= open && c == ',' && digit(after);
      if (open) continue;
      if (c == ' ' || c == '\t' || c == ';') comma_in_cell = false;
      if (c != ',') continue;
      use.separate |= comma_in_cell || before == '"' || after == '"' || (!digit(before) && !digit(after));
      comma_in_cell = true;
    }
  }
  return use;
}

}  // namespace

char find_separator(std::string_view content, char decimal, Comments comments, const std::string& name) {
  const auto rows = first_rows(content, sampled_rows, comments);
  if (decimal == ',')
    if (const CommaUse use = commas_in(rows); use.separate) {
      if (use.quoted) return ',';
      fail<InvalidArgument>(
          name +
          ": --decimal , needs columns that are separated by semicolons, tabs or blanks, or numbers in "
          "quotes; commas separate the columns of this file");
    }
  for (const bool equally : {true, false}) {
    for (const char separator : {';', '\t', ','}) {
      const auto fits = [&](std::string_view row) {
        const std::size_t n = count_separators(row, separator);
        return n > 0 && (!equally || n == count_separators(rows[0], separator));
      };
      if (separator != decimal && (equally ? !rows.empty() && std::all_of(rows.begin(), rows.end(), fits)
                                           : std::any_of(rows.begin(), rows.end(), fits))) {
        return separator;
      }
    }
  }
  return ' ';
}

std::size_t count_first_rows(std::string_view content, std::size_t enough, Comments comments) {
  return first_rows(content, enough, comments).size();
}

bool RowSplitter::next(std::vector<Field>& fields) {
  fields.clear();
  unescaped_.clear();
  if (!find_row()) return false;
  const std::size_t start = at_;
  split(fields);
  if (!cut()) return true;
  at_ = start, next_line_ = line_;
  return false;
}

bool RowSplitter::find_row() {
  skipped_ = {};
  while (!ended()) {
    const std::size_t start = at_;
    line_ = next_line_;
    skip_blanks();
    const bool blank = at_line_end(), comment = !blank && starts_comment(content_.substr(at_), comments_);
    // "#N/A" is a cell. If the content ends within it, it cannot be told from a comment.
    const bool undecided = !whole_ && content_.size() - at_ < std::string_view("#N/A").size();
    if (!blank && !comment && !undecided) {
      at_ = start;
      return true;
    }
    if (comment) at_ = std::min(content_.find_first_of("\r\n", at_), content_.size());
    if (blank || comment) end_line();
    if (cut() || (undecided && !blank)) {
      at_ = start, next_line_ = line_;
      return false;
    }
    skipped_.add({blank ? line_ : 0, comment ? line_ : 0});
  }
  return false;
}

void RowSplitter::skip_blanks() {
  while (!ended() && blank(content_[at_])) ++at_;
}

void RowSplitter::end_line() {
  if (!ended()) at_ += content_.substr(at_, 2) == "\r\n" ? 2 : 1;
  ++next_line_;
}

void RowSplitter::split(std::vector<Field>& fields) {
  for (;;) {
    skip_blanks();
    const std::size_t line = next_line_;
    const bool quoted = !ended() && content_[at_] == '"';
    fields.push_back({quoted ? quoted_text() : plain_text(), line});
    if (fields.size() > most_columns)
      fail_at(line_,
              ("the row has more than " + std::to_string(most_columns) + " cells, the most that are read")
                  .c_str());
    skip_blanks();
    if (at_line_end()) return end_line();
    if (separator_ != ' ') ++at_;
  }
}

std::string_view RowSplitter::plain_text() {
  const std::size_t from = at_;
  while (!at_line_end() && !separates(content_[at_])) ++at_;
  std::size_t to = at_;
  while (to > from && blank(content_[to - 1])) --to;
  return content_.substr(from, to - from);
}

std::string_view RowSplitter::quoted_text() {
  const std::size_t from = ++at_, opened = next_line_;
  bool doubled = false;
  for (;; ++at_) {
    at_ = content_.find_first_of("\"\n", at_);
    if (at_ == std::string_view::npos) {
      if (whole_) fail_at(opened, "a quote is opened and never closed");
      at_ = content_.size();
      return {};
    }
    if (content_[at_] == '\n') {
      ++next_line_;
    } else if (content_.substr(at_ + 1, 1) == "\"") {
      doubled = true, ++at_;
    } else {
      break;
    }
  }
  const std::string_view text = content_.substr(from, at_++ - from);
  const std::size_t after = at_;
  skip_blanks();
  if (!at_line_end() && !separates(content_[at_]) && (separator_ != ' ' || at_ == after)) {
    fail_at(next_line_, "text follows a closing quote");
  }
  if (!doubled) return text;
  std::string& plain = unescaped_.emplace_back();
  for (std::size_t i = 0; i < text.size(); ++i) {
    plain += text[i];
    i += text[i] == '"';
  }
  return plain;
}

void RowSplitter::fail_at(std::size_t line, const char* what) const {
  fail<InvalidArgument>(name_ + ":" + std::to_string(line) + ": " + what);
}

}  // namespace kolmo
