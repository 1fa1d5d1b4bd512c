#include "kolmo/io/table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "kolmo/base/error.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/byte_reader.hpp"
#include "kolmo/io/csv_cell.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/npy.hpp"
#include "kolmo/io/text_reader.hpp"

namespace kolmo {
std::string column_label(const Table& table, std::size_t column) {
  const std::string index = std::to_string(column);
  if (!table.named || table.names[column] == index) return "column " + index;
  return printable(table.names[column]);
}

Table select_rows(Table table, const std::string& range) {
  const auto colon = range.find(':');
  const auto bound = [&](const std::string& text, std::size_t fallback) {
    if (text.empty()) return fallback;
    std::size_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    require(parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size(),
            "rows \"" + printable(range) + "\": want START:END, 0-based, END not included");
    return value;
  };
  require(colon != std::string::npos,
          "rows \"" + printable(range) + "\": want START:END, 0-based, END not included");
  const std::size_t start = bound(range.substr(0, colon), 0),
                    end = bound(range.substr(colon + 1), table.rows());
  require(end <= table.rows() && start < end, table.file + ": rows " + range + ": the file has rows 0 to " +
                                                  std::to_string(table.rows() - 1) +
                                                  ", and START is below END");
  std::vector<std::size_t> rows(end - start);
  std::iota(rows.begin(), rows.end(), start);
  for (auto& faults : table.faults) {
    // The list of faults may be full, and then omit faults within the range.
    const bool full = faults.size() == Table::max_faults && faults.back().row < start;
    if (full) faults.back().row = start;
  }
  table = take_rows(std::move(table), rows);
  table.file_row.clear();  // rows are counted from START, as in messages
  return table;
}

Table take_rows(Table table, std::span<const std::size_t> rows) {
  const auto keep = [&](auto& values) {
    if (values.empty()) return;
    std::remove_reference_t<decltype(values)> kept;
    kept.reserve(rows.size());
    for (const std::size_t r : rows) kept.push_back(values[r]);
    values = std::move(kept);
  };
  std::map<std::size_t, std::size_t> place;  // of rows with a fault
  constexpr auto nowhere = std::size_t(-1);
  for (const auto& faults : table.faults)
    for (const Fault& fault : faults) place[fault.row] = nowhere;
  for (std::size_t i = 0; i < rows.size() && !place.empty(); ++i)
    if (const auto at = place.find(rows[i]); at != place.end()) at->second = i;
  for (auto& faults : table.faults) {
    std::vector<Fault> kept;
    for (Fault& fault : faults) {
      if (fault.row == Fault::every_row)
        kept.push_back(std::move(fault));
      else if (const std::size_t at = place[fault.row]; at != nowhere)
        kept.push_back({at, std::move(fault.what)});
    }
    std::sort(kept.begin(), kept.end(), [](const Fault& a, const Fault& b) { return a.row < b.row; });
    faults = std::move(kept);
  }
  if (table.file_row.empty()) {
    table.file_row.resize(table.rows());
    std::iota(table.file_row.begin(), table.file_row.end(), std::int64_t(0));
  }
  for (auto& column : table.columns) keep(column);
  for (auto& [column, text] : table.texts) text.take(rows);
  keep(table.trial), keep(table.steps), keep(table.where), keep(table.file_row);
  if (table.times) keep(table.times->dates), keep(table.times->numbers);
  return table;
}

Table read_table(const std::string& path, const TableOptions& options) {
  const std::string label = file_label(path);
  ByteReader bytes = open_bytes(path);
  if (is_npy(std::as_bytes(std::span(bytes.peek(npy_magic_bytes)))))
    return read_npy_table(bytes, label, options);
  require(!path.ends_with(".npy"), label + ": not an NPY file: it does not start with \\x93NUMPY");
  return read_text(bytes, label, options);
}

void write_csv(const std::string& path, const Table& table) {
  AtomicFile file(path);
  std::string buffer;
  for (std::size_t c = 0; c < table.names.size(); ++c) buffer += (c ? "," : "") + csv_cell(table.names[c]);
  buffer += '\n';
  for (std::size_t t = 0; t < table.rows(); ++t) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (c) buffer += ',';
      const double value = table.columns[c][t];
      char text[32];
      if (std::isnan(value)) {
        buffer += "NaN";
      } else {
        buffer.append(text, std::to_chars(text, text + sizeof text, value).ptr);
      }
    }
    buffer += '\n';
    if (buffer.size() > 1 << 20) {
      file.write(buffer);
      buffer.clear();
    }
  }
  file.write(buffer);
  file.commit();
}

}  // namespace kolmo
