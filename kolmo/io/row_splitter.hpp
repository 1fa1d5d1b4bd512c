#pragma once
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace kolmo {

/// The separator of a text table: ';', tab or ',' where it occurs equally often in each of the first rows;
/// else the first of them that occurs at all; else ' ', which stands for blanks.
char find_separator(std::string_view content);

/// Splits text into rows of cells (RFC 4180, comment lines, blank lines; see parse_text). The views it gives
/// stay valid as long as the text and the splitter.
class RowSplitter {
 public:
  struct Field {
    std::string_view text;
    std::size_t line;
  };

  /// `line`: the number of the content's first line.
  RowSplitter(std::string_view content, char separator, const std::string& name, std::size_t line = 1)
      : content_(content), name_(name), separator_(separator), next_line_(line) {}

  /// Reads the next row; false at the end. `blank_line` is the first empty line before it, or 0.
  /// Raises InvalidArgument, "NAME:LINE: ...", for a quote without end and for text after a closing quote.
  bool next(std::vector<Field>& fields, std::size_t& blank_line);

  std::size_t line() const { return line_; }  // where the last row starts, from 1
  std::size_t position() const { return at_; }

 private:
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
  std::size_t at_ = 0, line_ = 0, next_line_;
  std::deque<std::string> unescaped_;
};

}  // namespace kolmo
