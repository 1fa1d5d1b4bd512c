#pragma once
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/io/table_options.hpp"

namespace kolmo {

/// The separator of a text table: the first of ';', tab and ',' that occurs equally often in each of the
/// first rows, else the first of them that occurs at all, else ' ', which stands for blanks. If ',' is the decimal mark, it
/// separates only where numbers are in quotes: "1,5","2,5". Throws InvalidArgument, naming the file, if commas seem to
/// separate the columns, and none are in quotes.
char find_separator(std::string_view content, char decimal, Comments comments, const std::string& name);

/// The number of rows, without comments, in the first lines of `content`, up to `enough`.
std::size_t count_first_rows(std::string_view content, std::size_t enough, Comments comments);

/// What is said of lines that may not stand between rows.
inline constexpr const char* blank_between_rows =
    "an empty line between rows; remove it, or write NaN for what is missing";
inline constexpr const char* comment_between_rows =
    "a line that begins as a comment stands between rows, and time would jump over it; --comments none reads "
    "such lines as rows, "
    "--comments anywhere leaves them out";

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

  /// The first line of each kind that was skipped; 0: none.
  struct Skipped {
    std::size_t blank = 0, comment = 0;
    void add(const Skipped& later) {
      if (!blank) blank = later.blank;
      if (!comment) comment = later.comment;
    }
  };

  /// `line`: the number of the content's first line. `whole`: the text ends with the content; otherwise the
  /// content is a part of it, which may end anywhere.
  RowSplitter(std::string_view content, char separator, const std::string& name, Comments comments,
              std::size_t line = 1, bool whole = true)
      : content_(content),
        name_(name),
        separator_(separator),
        comments_(comments),
        whole_(whole),
        next_line_(line) {}

  /// Reads the next row; false at the end of the content, also if it cuts the row. Throws InvalidArgument, "NAME:LINE: ...",
  /// for an unclosed quote, for text after a closing quote, and for more than most_columns cells.
  bool next(std::vector<Field>& fields);
  /// Moves to the next row without reading it; false at the end of the content.
  bool find_row();
  /// What the last call skipped before the row.
  const Skipped& skipped() const { return skipped_; }

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
  Comments comments_;
  bool whole_;
  Skipped skipped_;
  std::size_t at_ = 0, line_ = 0, next_line_;
  std::deque<std::string> unescaped_;
};

}  // namespace kolmo
