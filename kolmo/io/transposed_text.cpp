#include "kolmo/io/transposed_text.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kolmo/base/error.hpp"
#include "kolmo/io/cell.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo {
namespace {

bool like_a_number(std::string_view text) {
  const auto letter = [](unsigned char c) {
    return c >= 0x80 || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  return text.find_first_of("0123456789") != std::string_view::npos &&
         std::none_of(text.begin(), text.end(), letter);
}

/// The first cell of each row, which is its name or a value.
struct FirstCell {
  std::string text;
  std::size_t line;
};

class Transposed {
 public:
  Transposed(const std::string& name, const TableOptions& options) : options_(options) { table_.file = name; }

  void add(const std::vector<RowSplitter::Field>& row, std::size_t line) {
    const std::size_t series = table_.columns.size();
    if (series == 0) width_ = row.size(), first_line_ = line;
    if (row.size() != width_)
      fail<InvalidArgument>(at(line) + ": the row has " + std::to_string(row.size()) +
                            (row.size() == 1 ? " cell" : " cells") + ", line " + std::to_string(first_line_) +
                            " has " + std::to_string(width_));
    if (series == most_columns)
      fail<InvalidArgument>(at(line) + ": more than " + std::to_string(most_columns) +
                            " rows; --transpose makes each of them a column");
    table_.names.push_back(std::to_string(series));
    table_.faults.emplace_back();
    auto& column = table_.columns.emplace_back();
    column.reserve(width_);
    first_.push_back({std::string(row[0].text), line});
    column.push_back(0);
    for (std::size_t i = 1; i < width_; ++i) put(series, i, row[i].text, row[i].line);
    last_is_empty_ &= row.back().text.empty();
  }

  Table finish() && {
    std::vector<std::string_view> texts;
    for (const FirstCell& cell : first_) texts.push_back(cell.text);
    table_.named = options_.header == Header::automatic ? is_header(texts, options_.cells)
                                                        : options_.header == Header::yes;
    for (std::size_t c = 0; c < first_.size(); ++c) {
      if (table_.named)
        name(c);
      else
        put(c, 0, first_[c].text, first_[c].line);
    }
    for (auto& column : table_.columns) {
      if (table_.named) column.erase(column.begin());
      if (last_is_empty_ && column.size() > 1) column.pop_back();
    }
    finish_texts();
    require(table_.rows() > 0, table_.file + ": the rows hold names and no values");
    return std::move(table_);
  }

 private:
  std::string at(std::size_t line) const { return table_.file + ":" + std::to_string(line); }

  void name(std::size_t series) {
    const FirstCell& cell = first_[series];
    if (!is_utf8(cell.text))
      fail<InvalidArgument>(at(cell.line) + ": the name \"" + printable(cell.text) + "\" is not UTF-8");
    if (!cell.text.empty()) table_.names[series] = cell.text;
    for (Fault& fault : table_.faults[series]) --fault.row;
  }

  /// Texts are kept behind the first cell, which is a name.
  void finish_texts() {
    if (!table_.named) table_.texts.clear();
    std::vector<std::size_t> rows(table_.rows());
    std::iota(rows.begin(), rows.end(), std::size_t(0));
    for (auto& [series, text] : table_.texts)
      if (text.rows() > rows.size()) text.take(rows);
  }

  void keep_text(std::size_t series, const Cell& cell, std::string_view text) {
    auto at = table_.texts.find(series);
    if (at == table_.texts.end()) {
      if (cell.kind != Cell::text) return;
      const auto& column = table_.columns[series];
      at = table_.texts.emplace(series, TextColumn({column.data() + 1, column.size() - 2})).first;
    }
    cell.kind == Cell::missing ? at->second.add_missing() : at->second.add(text);
  }

  void put(std::size_t series, std::size_t i, std::string_view text, std::size_t line) {
    const Cell cell = parse_cell(text, options_.cells);
    auto& column = table_.columns[series];
    auto& faults = table_.faults[series];
    if (i < column.size())
      column[i] = cell.value;
    else
      column.push_back(cell.value);
    if (i > 0) keep_text(series, cell, text);
    if (cell.kind == Cell::number || cell.kind == Cell::missing) return;
    const auto place = i == 0 ? faults.begin() : faults.end();
    if (i == 0 || faults.size() < Table::max_faults)
      faults.insert(place, {i, at(line) + ":column " + std::to_string(i) + ": " +
                                   explain(text, cell.kind, options_.cells)});
  }

  const TableOptions& options_;
  Table table_;
  std::vector<FirstCell> first_;
  std::size_t width_ = 0, first_line_ = 0;
  bool last_is_empty_ = true;
};

}  // namespace

bool is_header(const std::vector<std::string_view>& cells, const CellFormat& format) {
  bool named = false;
  for (const std::string_view text : cells) {
    const Cell::Kind kind = parse_cell(text, format).kind;
    if (kind == Cell::missing) continue;
    if (kind != Cell::text || like_a_number(text)) return false;
    named = true;
  }
  return named;
}

std::vector<std::string_view> texts_of(const std::vector<RowSplitter::Field>& row) {
  std::vector<std::string_view> texts;
  for (const auto& field : row) texts.push_back(field.text);
  return texts;
}

Table read_transposed(TextRows& text, const std::string& name, const TableOptions& options) {
  Transposed builder(name, options);
  std::vector<RowSplitter::Field> row;
  for (std::size_t rows = 0; text.next(row); ++rows) {
    if (rows > 0) text.refuse_skipped();
    builder.add(row, text.line());
  }
  return std::move(builder).finish();
}

}  // namespace kolmo
