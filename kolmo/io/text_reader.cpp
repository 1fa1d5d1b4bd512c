#include "kolmo/io/text_reader.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/base/error.hpp"
#include "kolmo/io/cell.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/header_guess.hpp"
#include "kolmo/io/row_splitter.hpp"
#include "kolmo/io/text_rows.hpp"
#include "kolmo/io/transposed_text.hpp"

namespace kolmo {
namespace {

using Row = std::vector<RowSplitter::Field>;

class Builder {
 public:
  Builder(const std::string& name, char separator, const TableOptions& options)
      : options_(options), separator_(separator) {
    table_.file = name;
  }

  void begin(const Row& first, std::size_t line) {
    first_line_ = line;
    table_.columns.resize(first.size());
    table_.faults.resize(first.size());
    const bool judged = options_.header == Header::automatic;
    table_.named = judged ? is_header(texts_of(first), options_.cells) : options_.header == Header::yes;
    if (judged && !table_.named) guess_.first(first);
    for (std::size_t c = 0; c < first.size(); ++c) {
      const std::string_view name = table_.named ? first[c].text : std::string_view();
      if (!is_utf8(name)) {
        fail<InvalidArgument>(at(line) + ": column " + std::to_string(c) + ": the name \"" + printable(name) +
                              "\" is not UTF-8");
      }
      table_.names.push_back(name.empty() ? std::to_string(c) : std::string(name));
      nameless_.push_back(name.empty());
      text_first_.push_back(judged && !table_.named &&
                            parse_cell(first[c].text, options_.cells).kind == Cell::text);
    }
  }

  void reserve(std::size_t rows) {
    for (auto& column : table_.columns) column.reserve(rows);
  }

  void add(const Row& row, std::size_t line) {
    const std::size_t width = table_.columns.size(), r = table_.rows();
    if (row.size() != width) {
      const bool halves = options_.cells.decimal == '.' && separator_ == ',' && row.size() == 2 * width;
      fail<InvalidArgument>(at(line) + ": the row has " + std::to_string(row.size()) +
                            (row.size() == 1 ? " cell" : " cells") + ", line " + std::to_string(first_line_) +
                            " has " + std::to_string(width) +
                            (halves ? " (are these decimal commas? write 1.5, not 1,5)" : ""));
    }
    if (r > 0) guess_.add(row);
    for (std::size_t c = 0; c < width; ++c) {
      const Cell cell = parse_cell(row[c].text, options_.cells);
      table_.columns[c].push_back(cell.value);
      if (r == 1 && cell.kind == Cell::number && text_first_[c]) {
        fail<InvalidArgument>(table_.faults[c][0].what +
                              "; a header holds no numbers, unless --header yes says so");
      }
      keep_text(c, cell, row[c].text);
      const bool usable = cell.kind == Cell::number || cell.kind == Cell::missing;
      if (!usable && table_.faults[c].size() < Table::max_faults) {
        table_.faults[c].push_back({r, at(row[c].line) + ":" + column_label(table_, c) + ": " +
                                           explain(row[c].text, cell.kind, options_.cells)});
      }
    }
  }

  Table finish() && {
    const auto& last = table_.columns.back();
    const bool empty = std::all_of(last.begin(), last.end(), [](double v) { return std::isnan(v); });
    if (table_.columns.size() > 1 && nameless_.back() && empty && table_.faults.back().empty()) {
      table_.columns.pop_back();
      table_.names.pop_back();
      table_.faults.pop_back();
    }
    if (guess_.likely()) table_.remarks.push_back(HeaderGuess::remark(first_line_));
    return std::move(table_);
  }

  std::string at(std::size_t line) const { return table_.file + ":" + std::to_string(line); }
  /// Keeps the text of a column from its first cell on that is text. Needs the cell's value in the table.
  void keep_text(std::size_t column, const Cell& cell, std::string_view text) {
    auto& texts = table_.texts;
    auto at = texts.empty() ? texts.end() : texts.find(column);
    if (at == texts.end()) {
      if (cell.kind != Cell::text) return;
      const auto& above = table_.columns[column];
      at = texts.emplace(column, TextColumn({above.data(), above.size() - 1})).first;
    }
    cell.kind == Cell::missing ? at->second.add_missing() : at->second.add(text);
  }
  bool named() const { return table_.named; }

 private:
  const TableOptions& options_;
  Table table_;
  HeaderGuess guess_;
  // For each column: whether it has no name, and whether the first row, which is no header, has text.
  std::vector<bool> nameless_, text_first_;
  std::size_t first_line_ = 0;
  char separator_;
};

}  // namespace

Table parse_text(std::string_view content, const std::string& name, const TableOptions& options) {
  ByteReader bytes = bytes_of(content);
  return read_text(bytes, name, options);
}

Table read_text(ByteReader& bytes, const std::string& name, const TableOptions& options) {
  TextRows text(bytes, name, options);
  if (options.transpose) return read_transposed(text, name, options);
  Builder builder(name, text.separator(), options);
  Row row;
  std::size_t rows = 0;
  require(text.next(row), name + ": the file holds no rows, only tabs");
  builder.begin(row, text.line());
  if (!builder.named()) builder.add(row, text.line()), ++rows;
  for (std::uint64_t first_end = text.position(); text.next(row); ++rows) {
    if (rows > 0) text.refuse_skipped();
    builder.add(row, text.line());
    if (first_end && bytes.expected() > text.position()) {
      const std::uint64_t length = std::max<std::uint64_t>(text.position() - first_end, 1);
      builder.reserve(rows + 2 + std::size_t((bytes.expected() - text.position()) / length));
    }
    first_end = 0;
  }
  require(rows > 0, name + ": the file has a header and no rows");
  return std::move(builder).finish();
}

}  // namespace kolmo
