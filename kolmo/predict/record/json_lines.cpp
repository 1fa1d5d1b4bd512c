#include "kolmo/predict/record/json_lines.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "kolmo/base/error.hpp"
#include "kolmo/io/cell.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/json.hpp"

namespace kolmo::predict {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The line with NaN and infinities outside of strings, which are no JSON, in quotes.
std::string quoted(std::string_view line) {
  std::string out;
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && (i == 0 || line[i - 1] != '\\')) inside = !inside;
    std::string_view word;
    for (const std::string_view w : {"NaN", "-Infinity", "Infinity"})
      if (!inside && word.empty() && line.substr(i).starts_with(w)) word = w;
    if (word.empty()) {
      out += c;
    } else {
      out += '"' + std::string(word) + '"';
      i += word.size() - 1;
    }
  }
  return out;
}

}  // namespace

bool is_json_lines(const std::string& path) {
  if (path == "-") return false;
  ByteReader bytes = open_bytes(path);
  const std::string_view first = bytes.peek(64);
  const std::size_t at = first.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return at != first.npos && first[at] == '{';
}

Remark cut_line(const std::string& label) {
  return {"cut-line",
          label +
              ": the last line has no line end, so that it may be half written, and is left out; if it "
              "is whole, end it with one"};
}

Table read_json_lines(const std::string& path, CellFormat format) {
  Table table;
  table.file = file_label(path);
  table.named = true;
  std::map<std::string, std::size_t> number;
  const std::string text = open_bytes(path).rest(table.file);
  format.infinite_is_number = true;
  std::size_t line = 0, row = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view content = std::string_view(text).substr(begin, end - begin);
    begin = end + 1, ++line;
    if (content.find_first_not_of(" \t\r\xEF\xBB\xBF") == content.npos) continue;
    const std::string label = table.file + ":" + std::to_string(line);
    nlohmann::ordered_json json;
    try {
      json = parse_json<nlohmann::ordered_json>(quoted(content), label);
    } catch (const InvalidArgument&) {
      if (row == 0 || end < text.size()) throw;
      table.remarks.push_back(cut_line(label));
      break;
    }
    require(json.is_object(), label + ": is no JSON object; a log in JSONL has one on each line");
    for (const auto& [key, value] : json.items()) {
      const auto [found, added] = number.try_emplace(key, table.columns.size());
      if (added) {
        table.names.push_back(key);
        table.columns.emplace_back(row, nan);
        table.faults.emplace_back();
      }
      std::vector<double>& column = table.columns[found->second];
      if (column.size() > row) continue;  // a name that a line has twice
      column.push_back(nan);
      if (value.is_number()) {
        column.back() = value.get<double>();
      } else if (value.is_string()) {
        const Cell cell = parse_cell(value.get_ref<const std::string&>(), format);
        column.back() = cell.value;
        if (cell.kind == Cell::text && table.faults[found->second].size() < Table::max_faults)
          table.faults[found->second].push_back(
              {row, label + ": " + printable(key) + ": " +
                        explain(value.get_ref<const std::string&>(), cell.kind, format)});
      } else if (!value.is_null() && table.faults[found->second].size() < Table::max_faults) {
        table.faults[found->second].push_back({row, label + ": " + printable(key) + ": is not a number"});
      }
    }
    ++row;
    for (auto& column : table.columns) column.resize(row, nan);
  }
  require(row > 0, table.file + ": holds no line");
  return table;
}

}  // namespace kolmo::predict
