#include "cli/table.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kolmo/base/number_text.hpp"

namespace kolmo::cli {
namespace {

/// The displayed width in characters. Continuation bytes of UTF-8 and colour sequences have no width.
std::size_t width(const std::string& text) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033')
      i = std::min(text.find('m', i), text.size());
    else
      n += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
  }
  return n;
}

}  // namespace

TextTable::TextTable(std::vector<std::string> titles) : titles_(std::move(titles)) {
  for (auto& title : titles_) {
    right_.push_back(title.starts_with('>'));
    if (right_.back()) title.erase(0, 1);
  }
}

void TextTable::add(std::vector<std::string> cells) {
  cells.resize(titles_.size());
  rows_.push_back(std::move(cells));
}

void TextTable::print(std::ostream& out) const {
  for (const std::string& line : lines()) out << line << '\n';
}

std::vector<std::string> TextTable::lines() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < titles_.size(); ++c) {
    widths.push_back(width(titles_[c]));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], width(row[c]));
  }
  const auto line = [&](const std::vector<std::string>& cells, bool title) {
    std::string text;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string gap(widths[c] - width(cells[c]), ' '),
          cell = title ? paint(Color::bold, cells[c]) : cells[c];
      text += (c ? "  " : "") + (right_[c] ? gap + cell : cell + gap);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::vector<std::string> all{line(titles_, true)};
  for (const auto& row : rows_) all.push_back(line(row, false));
  return all;
}

std::string paint(Color color, const std::string& text) {
  static const bool on = [] {
    const char* no_color = std::getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(no_color && *no_color);
  }();
  return on ? "\033[" + std::to_string(int(color)) + "m" + text + "\033[0m" : text;
}

std::string significant(double value, int digits) { return significant_text(value, digits); }

std::string percent(double share, int digits) {
  if (std::isnan(share)) return "-";
  const bool whole = std::abs(100 * share) >= std::pow(10, digits) - 0.5;  // significant() would write 1e+02
  return significant(whole ? std::round(100 * share) : 100 * share, whole ? 15 : digits) + " %";
}

std::string duration(double seconds) {
  const struct {
    double size;
    const char* name;
  } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  const auto* unit = units;
  while (unit->size > 1e-9 && seconds < unit->size) ++unit;
  return significant(seconds / unit->size, 3) + ' ' + unit->name;
}

}  // namespace kolmo::cli
