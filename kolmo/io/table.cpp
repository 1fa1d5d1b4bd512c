#include "kolmo/io/table.hpp"

#include <charconv>
#include <cmath>

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
  for (auto& column : table.columns) {
    column.erase(column.begin() + std::ptrdiff_t(end), column.end());
    column.erase(column.begin(), column.begin() + std::ptrdiff_t(start));
  }
  if (!table.trial.empty())
    table.trial = {table.trial.begin() + std::ptrdiff_t(start), table.trial.begin() + std::ptrdiff_t(end)};
  for (auto& faults : table.faults) {
    std::vector<Fault> kept;
    for (Fault& fault : faults) {
      if (fault.row == Fault::every_row)
        kept.push_back(fault);
      else if (fault.row >= start && fault.row < end)
        kept.push_back({fault.row - start, fault.what});
    }
    // The list of faults may be full, and then omit faults within the range.
    if (kept.empty() && faults.size() == Table::max_faults && faults.back().row < start) {
      kept.push_back({0, faults.back().what});
    }
    faults = std::move(kept);
  }
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
