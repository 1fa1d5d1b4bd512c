#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "kolmo/base/error.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/nearest.hpp"
#include "kolmo/io/table.hpp"

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

struct Span {
  std::size_t first, last;
};

std::optional<std::size_t> whole_index(std::string_view text) {
  std::size_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (text.empty() || parsed.ec == std::errc::invalid_argument || parsed.ptr != end) return std::nullopt;
  return parsed.ec == std::errc{} ? value : std::string::npos;  // too large for any table
}

/// Parses "3" or "3-40"; empty if the word is quoted or anything else.
std::optional<Span> span_of(const Word& word) {
  if (word.quoted) return std::nullopt;
  const auto hyphen = word.text.find('-');
  const auto first = whole_index(std::string_view(word.text).substr(0, hyphen));
  const auto last =
      hyphen == std::string::npos ? first : whole_index(std::string_view(word.text).substr(hyphen + 1));
  if (!first || !last) return std::nullopt;
  return Span{*first, *last};
}

std::string nearest_name(const Table& table, const std::string& word) {
  if (!table.named) return "";
  const std::string found = nearest(word, table.names);
  return found.empty() ? "" : ", did you mean \"" + printable(found) + "\"?";
}

Span resolve(const Table& table, const Word& word) {
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
  std::optional<Span> span = span_of(word);
  const bool within = span && span->first < table.columns.size() && span->last < table.columns.size();
  const bool range = word.text.find('-') != std::string::npos;
  if (within && !matches.empty() && (range || span->first != matches[0])) {
    const std::string meant =
        range ? "a range of columns" : "the index of column " + printable(table.names[span->first]);
    fail<InvalidArgument>(table.file + ": " + word.text + " is the name of column " +
                          std::to_string(matches[0]) + " and " + meant + "; put names in double quotes");
  }
  if (!matches.empty()) return {matches[0], matches[0]};
  if (within && span->first > span->last)
    fail<InvalidArgument>(table.file + ": columns " + shown +
                          ": a range goes from the lower index to the "
                          "higher one");
  if (!within)
    fail<InvalidArgument>(table.file + ": no " + (span && range ? "columns " : "column ") + shown +
                          nearest_name(table, word.text) + "; " + available(table));
  return *span;
}

std::vector<std::size_t> listed(const Table& table, const std::string& spec) {
  std::vector<std::size_t> chosen;
  std::vector<bool> taken(table.columns.size());
  for (const Word& word : split_spec(table, spec)) {
    const Span span = resolve(table, word);
    for (std::size_t c = span.first; c <= span.last; ++c) {
      require(!taken[c], table.file + ": " + column_label(table, c) + " is chosen twice");
      taken[c] = true;
      chosen.push_back(c);
    }
  }
  return chosen;
}

/// Results tell columns apart by their names.
void refuse_equal_names(const Table& table, const std::vector<std::size_t>& chosen) {
  std::map<std::string_view, std::size_t> known;
  for (const std::size_t c : chosen) {
    const auto [first, is_new] = known.emplace(table.names[c], c);
    if (!is_new)
      fail<InvalidArgument>(table.file + ": columns " + std::to_string(first->second) + " and " +
                            std::to_string(c) + " are both called \"" + printable(table.names[c]) +
                            "\"; choose one of them by its index, or rename one");
  }
}

void raise_faults(const Table& table, std::size_t column, const char* advice) {
  if (column < table.faults.size() && !table.faults[column].empty()) {
    fail<InvalidArgument>(table.faults[column][0].what + advice);
  }
}

}  // namespace

std::vector<std::size_t> find_columns(const Table& table, const std::string& spec) {
  return listed(table, spec);
}

std::vector<std::size_t> select_columns(const Table& table, const std::string& spec,
                                        const std::string& excluded,
                                        std::span<const std::size_t> no_variables) {
  std::vector<std::size_t> chosen;
  const auto among = [](std::size_t c, auto& some) {
    return std::find(some.begin(), some.end(), c) != some.end();
  };
  if (spec.empty()) {
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      if (!among(c, no_variables)) chosen.push_back(c);
    require(!chosen.empty(), table.file + ": no column is left that is a variable");
  } else {
    chosen = listed(table, spec);
  }
  if (!excluded.empty()) {
    const std::vector<std::size_t> out = listed(table, excluded);
    std::erase_if(chosen, [&](std::size_t c) { return among(c, out); });
    require(!chosen.empty(), table.file + ": no column is left without " + printable(excluded));
  }
  refuse_equal_names(table, chosen);
  for (const std::size_t c : chosen)
    raise_faults(table, c, spec.empty() ? "; --columns chooses other columns" : "");
  return chosen;
}

}  // namespace kolmo
