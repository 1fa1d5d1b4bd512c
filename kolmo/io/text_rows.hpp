#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kolmo/io/byte_reader.hpp"
#include "kolmo/io/row_splitter.hpp"

namespace kolmo {

/// Reads the rows of a text table, of which a few are in memory at a time. Throws InvalidArgument, naming
/// file and line, for what RowSplitter refuses, for rows longer than longest_row, and for input that is not
/// text.
class TextRows {
 public:
  /// Reads as far as is necessary to find the separator. The first two arguments must outlive this object.
  TextRows(ByteReader& bytes, const std::string& name, const TableOptions& options);
  TextRows(const TextRows&) = delete;
  TextRows& operator=(const TextRows&) = delete;

  char separator() const { return separator_; }
  /// Reads the next row; false at the end. Its cells are valid until the next call.
  bool next(std::vector<RowSplitter::Field>& fields);
  /// Throws if an empty line or, unless comments may be anywhere, a comment stood before the last row.
  void refuse_skipped() const;
  std::size_t line() const { return splitter_->line(); }  // where the last row starts, from 1
  std::uint64_t position() const { return before_ + splitter_->position(); }  // position behind that row

 private:
  bool more();
  void skip_to_first_row();
  void sample(char decimal);
  void drop(std::size_t n);
  [[noreturn]] void fail_at(std::size_t line, const std::string& what) const;

  ByteReader& bytes_;
  const std::string& name_;
  // Begins with the last row, or with what follows it.
  std::string window_;
  std::size_t piece_ = std::size_t(16) << 10;  // how much is read at once; grows
  std::uint64_t before_ = 0;
  std::size_t line_ = 1;  // line of the window's start
  Comments comments_;
  RowSplitter::Skipped skipped_;
  bool ended_ = false;
  char separator_ = ',';
  std::optional<RowSplitter> splitter_;
};

}  // namespace kolmo
