#include "kolmo/io/text_reader.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/base/error.hpp"
#include "kolmo/io/cell.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/row_splitter.hpp"

namespace kolmo {
namespace {

using Row = std::vector<RowSplitter::Field>;

void require_text(std::string_view content, const std::string& name) {
  struct Format {
    std::string_view magic;
    const char* what;
  };
  static constexpr Format formats[] = {{"\x1f\x8b", "a gzip archive"},
                                       {"PK\3\4", "a zip archive (.zip, .npz, .xlsx)"},
                                       {"\x89HDF", "an HDF5 file"},
                                       {"\xD0\xCF\x11\xE0", "an Excel file"},
                                       {"PAR1", "a Parquet file"},
                                       {"\xFF\xFE", "UTF-16 text, not UTF-8"},
                                       {"\xFE\xFF", "UTF-16 text, not UTF-8"}};
  for (const Format& format : formats) {
    if (content.starts_with(format.magic))
      fail<InvalidArgument>(name + ": is " + format.what + "; want CSV, TSV or NPY");
  }
  const auto at = content.find('\0');
  if (at == std::string_view::npos) return;
  const auto line = 1 + std::count(content.begin(), content.begin() + std::ptrdiff_t(at), '\n');
  fail<InvalidArgument>(name + ":" + std::to_string(line) + ": not a text file (it holds a zero byte)");
}

bool like_a_number(std::string_view text) {
  const auto letter = [](unsigned char c) {
    return c >= 0x80 || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  return text.find_first_of("0123456789") != std::string_view::npos &&
         std::none_of(text.begin(), text.end(), letter);
}

bool is_header(const Row& row) {
  bool named = false;
  for (const auto& field : row) {
    const Cell::Kind kind = parse_cell(field.text).kind;
    if (kind == Cell::missing) continue;
    if (kind != Cell::text || like_a_number(field.text)) return false;
    named = true;
  }
  return named;
}

class Builder {
 public:
  Builder(const std::string& name, char separator) : separator_(separator) { table_.file = name; }

  void begin(const Row& first, std::size_t line) {
    first_line_ = line;
    table_.columns.resize(first.size());
    table_.faults.resize(first.size());
    table_.named = is_header(first);
    for (std::size_t c = 0; c < first.size(); ++c) {
      const std::string_view name = table_.named ? first[c].text : std::string_view();
      if (!is_utf8(name)) {
        fail<InvalidArgument>(at(line) + ": column " + std::to_string(c) + ": the name \"" + printable(name) +
                              "\" is not UTF-8");
      }
      table_.names.push_back(name.empty() ? std::to_string(c) : std::string(name));
      nameless_.push_back(name.empty());
      text_first_.push_back(!table_.named && parse_cell(first[c].text).kind == Cell::text);
    }
  }

  void reserve(std::size_t rows) {
    for (auto& column : table_.columns) column.reserve(rows);
  }

  void add(const Row& row, std::size_t line) {
    const std::size_t width = table_.columns.size(), r = table_.rows();
    if (row.size() != width) {
      const bool halves = separator_ == ',' && row.size() == 2 * width;
      fail<InvalidArgument>(at(line) + ": the row has " + std::to_string(row.size()) +
                            (row.size() == 1 ? " cell" : " cells") + ", line " + std::to_string(first_line_) +
                            " has " + std::to_string(width) +
                            (halves ? " (are these decimal commas? write 1.5, not 1,5)" : ""));
    }
    for (std::size_t c = 0; c < width; ++c) {
      const Cell cell = parse_cell(row[c].text);
      table_.columns[c].push_back(cell.value);
      if (r == 1 && cell.kind == Cell::number && text_first_[c]) {
        fail<InvalidArgument>(table_.faults[c][0].what + "; a header holds no numbers");
      }
      const bool usable = cell.kind == Cell::number || cell.kind == Cell::missing;
      if (!usable && table_.faults[c].size() < Table::max_faults) {
        table_.faults[c].push_back(
            {r, at(row[c].line) + ":" + column_label(table_, c) + ": " + explain(row[c].text, cell.kind)});
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
    return std::move(table_);
  }

  std::string at(std::size_t line) const { return table_.file + ":" + std::to_string(line); }
  bool named() const { return table_.named; }

 private:
  Table table_;
  std::vector<bool> nameless_, text_first_;  // per column; text in the first row, which is no header
  std::size_t first_line_ = 0;
  char separator_;
};

}  // namespace

Table parse_text(std::string_view content, const std::string& name) {
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  require(!content.empty(), name + ": the file is empty");
  require_text(content, name);
  const char separator = find_separator(content);
  RowSplitter splitter(content, separator, name);
  Builder builder(name, separator);
  Row row;
  std::size_t blank_line = 0, rows = 0;
  if (!splitter.next(row, blank_line))
    fail<InvalidArgument>(name + ": the file holds no rows, only comments or empty lines");
  builder.begin(row, splitter.line());
  if (!builder.named()) builder.add(row, splitter.line()), ++rows;
  for (std::size_t first_end = splitter.position(); splitter.next(row, blank_line); ++rows) {
    if (rows > 0 && blank_line) {
      fail<InvalidArgument>(builder.at(blank_line) +
                            ": an empty line between rows; remove it, or write NaN for what is missing");
    }
    builder.add(row, splitter.line());
    if (first_end) {
      const std::size_t bytes = splitter.position() - first_end;
      builder.reserve(rows + 2 + (content.size() - splitter.position()) / std::max<std::size_t>(bytes, 1));
      first_end = 0;
    }
  }
  require(rows > 0, name + ": the file has a header and no rows");
  return std::move(builder).finish();
}

}  // namespace kolmo
