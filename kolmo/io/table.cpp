#include "kolmo/io/table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "kolmo/base/error.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/npy.hpp"
#include "kolmo/io/text_reader.hpp"

namespace kolmo {
namespace {

struct Word {
  std::string text;
  bool quoted = false;
};

std::string trimmed(const std::string& s) {
  const auto first = s.find_first_not_of(" \t");
  return first == std::string::npos ? "" : s.substr(first, s.find_last_not_of(" \t") + 1 - first);
}

std::vector<Word> split_spec(const Table& table, const std::string& spec) {
  std::vector<Word> words(1);
  bool open = false;
  for (std::size_t i = 0; i < spec.size(); ++i) {
    Word& word = words.back();
    const char c = spec[i];
    if (open && c == '"' && i + 1 < spec.size() && spec[i + 1] == '"') {
      word.text += spec[++i];
    } else if (open && c == '"') {
      open = false;
    } else if (open) {
      word.text += c;
    } else if (c == ',') {
      words.emplace_back();
    } else if (c == '"' && !word.quoted && trimmed(word.text).empty()) {
      word = {"", true};
      open = true;
    } else if (!word.quoted) {
      word.text += c;
    } else if (c != ' ' && c != '\t') {
      fail<InvalidArgument>(table.file + ": columns " + printable(spec) + ": text after a closing quote");
    }
  }
  require(!open, table.file + ": columns " + printable(spec) + ": a quote is not closed");
  for (Word& word : words) {
    if (!word.quoted) word.text = trimmed(word.text);
    require(word.quoted || !word.text.empty(),
            table.file + ": columns \"" + printable(spec) + "\": a name is empty");
  }
  return words;
}

std::string available(const Table& table) {
  const std::size_t n = table.columns.size();
  const std::string indices =
      n == 1 ? "its only column is 0" : "its columns are 0 to " + std::to_string(n - 1);
  if (!table.named) return "the file has no header, " + indices;
  std::string list = "its columns are ";
  for (std::size_t c = 0; c < n; ++c) {
    if (c == 30) return list + ", ... (" + std::to_string(n) + " in all)";
    list += (c ? ", " : "") + printable(table.names[c]);
  }
  return list;
}

std::size_t resolve(const Table& table, const Word& word) {
  std::vector<std::size_t> matches;
  for (std::size_t c = 0; c < table.names.size(); ++c) {
    if (table.names[c] == word.text) matches.push_back(c);
  }
  const std::string shown = "\"" + printable(word.text) + "\"";
  if (matches.size() > 1) {
    fail<InvalidArgument>(table.file + ": " + std::to_string(matches.size()) + " columns are called " +
                          shown + "; choose by index (" + std::to_string(matches[0]) + ", " +
                          std::to_string(matches[1]) + (matches.size() > 2 ? ", ...)" : ")"));
  }
  std::optional<std::size_t> index;
  std::size_t value = 0;
  const char* end = word.text.data() + word.text.size();
  const auto parsed = std::from_chars(word.text.data(), end, value);
  if (!word.quoted && parsed.ec == std::errc{} && parsed.ptr == end && value < table.columns.size())
    index = value;
  if (index && !matches.empty() && *index != matches[0]) {
    fail<InvalidArgument>(table.file + ": " + word.text + " is the name of column " +
                          std::to_string(matches[0]) + " and the index of column " +
                          printable(table.names[*index]) + "; put names in double quotes");
  }
  if (!matches.empty()) return matches[0];
  if (!index) fail<InvalidArgument>(table.file + ": no column " + shown + "; " + available(table));
  return *index;
}

void raise_faults(const Table& table, std::size_t column, const char* advice) {
  if (column < table.faults.size() && !table.faults[column].empty()) {
    fail<InvalidArgument>(table.faults[column][0].what + advice);
  }
}

std::string quoted(const std::string& name) {
  if (name.find_first_of(",;\t\r\n\"#% ") == std::string::npos) return name;
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

}  // namespace

std::string column_label(const Table& table, std::size_t column) {
  const std::string index = std::to_string(column);
  if (!table.named || table.names[column] == index) return "column " + index;
  return printable(table.names[column]);
}

std::vector<std::size_t> select_columns(const Table& table, const std::string& spec) {
  std::vector<std::size_t> chosen;
  if (spec.empty()) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      raise_faults(table, c, "; --columns chooses other columns");
      chosen.push_back(c);
    }
    return chosen;
  }
  for (const Word& word : split_spec(table, spec)) {
    const std::size_t c = resolve(table, word);
    require(std::find(chosen.begin(), chosen.end(), c) == chosen.end(),
            table.file + ": " + column_label(table, c) + " is chosen twice");
    raise_faults(table, c, "");
    chosen.push_back(c);
  }
  return chosen;
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
  for (auto& faults : table.faults) {
    std::vector<Fault> kept;
    for (Fault& fault : faults) {
      if (fault.row >= start && fault.row < end) kept.push_back({fault.row - start, fault.what});
    }
    // A full list may have left out faults within the range.
    if (kept.empty() && faults.size() == Table::max_faults && faults.back().row < start) {
      kept.push_back({0, faults.back().what});
    }
    faults = std::move(kept);
  }
  return table;
}

Table read_table(const std::string& path) {
  const std::string content = read_file(path), label = file_label(path);
  const auto bytes = std::as_bytes(std::span(content));
  if (is_npy(bytes)) return to_table(parse_npy(bytes, label), label);
  require(!path.ends_with(".npy"), label + ": not an NPY file: it does not start with \\x93NUMPY");
  return parse_text(content, label);
}

void write_csv(const std::string& path, const Table& table) {
  AtomicFile file(path);
  std::string buffer;
  for (std::size_t c = 0; c < table.names.size(); ++c) buffer += (c ? "," : "") + quoted(table.names[c]);
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
