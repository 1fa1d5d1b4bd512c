#include "kolmo/io/text_column.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kolmo/io/date.hpp"

namespace kolmo {

TextColumn::TextColumn(std::span<const double> numbers_above) {
  for (const double x : numbers_above) std::isnan(x) ? add_missing() : add(fmt::format("{}", x));
}

void TextColumn::add(std::string_view text) {
  if (dates_.size() == rows_)
    if (const auto date = parse_date(text)) dates_.push_back(*date);
  if (has_words()) {
    auto at = number_.find(text);
    if (at == number_.end() && words_.size() < most_words) {
      at = number_.emplace(std::string(text), std::uint32_t(words_.size())).first;
      words_.emplace_back(text);
    }
    if (at != number_.end())
      word_.push_back(at->second);
    else
      word_ = {}, words_ = {}, number_.clear();
  }
  if (dates_.size() == rows_) dates_ = {};
  ++rows_;
}

void TextColumn::add_missing() { add(""); }

void TextColumn::take(std::span<const std::size_t> rows) {
  const bool dates = is_date(), words = has_words();
  std::vector<std::int64_t> kept_dates;
  std::vector<std::uint32_t> kept_words;
  for (const std::size_t r : rows) {
    if (dates) kept_dates.push_back(dates_[r]);
    if (words) kept_words.push_back(word_[r]);
  }
  dates_ = std::move(kept_dates), word_ = std::move(kept_words), rows_ = rows.size();
}

}  // namespace kolmo
