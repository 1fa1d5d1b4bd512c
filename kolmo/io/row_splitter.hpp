#pragma once
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace kolmo {

/// The separator of a text table: the first of ';', tab and ',' that occurs equally often in each of the
/// first rows, else the first of them that occurs at all, else ' ', which stands for blanks. ',' separates
/// nothing if it is the decimal mark.
char find_separator(std::string_view content, char decimal = '.');

/// The number of rows, without comments, in the first lines of `content`, up to `enough`.
std::size_t count_first_rows(std::string_view content, std::size_t enough);

/// Whether commas seem to separate the columns of a table although it was said to have decimal commas: a cell
/// between blanks, semicolons or tabs, outside quotes, holds two commas, or one that is not beside a digit.
bool separated_by_commas(std::string_view content);

/// The rows that find_separator looks at.
inline constexpr std::size_t sampled_rows = 8;

/// Splits text into rows of cells (RFC 4180, comment lines, blank lines; see parse_text). The views it
/// returns are valid until the next call and as long as the text lives.
class RowSplitter {
 public:
  struct Field {
    std::string_view text;
    std::size_t line;
  };

  /// `line`: the number of the content's first line. `whole`: the text ends with the content; otherwise the
  /// content is a part of it, which may end anywhere.
  RowSplitter(std::string_view content, char separator, const std::string& name, std::size_t line = 1,
              bool whole = true)
      : content_(content), name_(name), separator_(separator), whole_(whole), next_line_(line) {}

  /// Reads the next row; false at the end of the content, also if it cuts the row. `blank_line` is set to the
  /// first empty line before it, or 0. Throws InvalidArgument, "NAME:LINE: ...", for an unclosed quote, for
  /// text after a closing quote, and for more than most_columns cells.
  bool next(std::vector<Field>& fields, std::size_t& blank_line);
  /// Moves to the next row without reading it; false at the end of the content.
  bool find_row(std::size_t& blank_line);

  std::size_t line() const { return line_; }            // where the last row starts, from 1
  std::size_t next_line() const { return next_line_; }  // line of position()
  std::size_t position() const { return at_; }          // behind the last complete row or line

 private:
  bool cut() const { return ended() && !whole_; }
  bool ended() const { return at_ == content_.size(); }
  bool at_line_end() const { return ended() || content_[at_] == '\n' || content_[at_] == '\r'; }
  bool blank(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  bool separates(char c) const { return separator_ == ' ' ? c == ' ' || c == '\t' : c == separator_; }
  void skip_blanks();
  void end_line();
  void split(std::vector<Field>& fields);
  std::string_view plain_text();
  std::string_view quoted_text();
  [[noreturn]] void fail_at(std::size_t line, const char* what) const;

  std::string_view content_;
  const std::string& name_;
  char separator_;
  bool whole_;
  std::size_t at_ = 0, line_ = 0, next_line_;
  std::deque<std::string> unescaped_;
};

}  // namespace kolmo
