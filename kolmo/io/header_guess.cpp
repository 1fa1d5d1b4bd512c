#include "kolmo/io/header_guess.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "kolmo/io/cell.hpp"

namespace kolmo {
namespace {

constexpr std::size_t followed_rows = 8;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return value;
}

/// The cells as whole numbers, without missing ones; empty if a cell is anything else.
std::vector<std::int64_t> whole_numbers(const HeaderGuess::Row& row) {
  std::vector<std::int64_t> values;
  for (const auto& field : row) {
    if (field.text.empty()) continue;
    const auto value = whole_number(field.text);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

bool ascends(const std::vector<std::int64_t>& values) {
  for (std::size_t i = 1; i < values.size(); ++i)
    if (double(values[i]) - double(values[i - 1]) != 1) return false;
  return values.size() > 1;
}

double number(std::string_view text) { return parse_cell(text).value; }

}  // namespace

void HeaderGuess::first(const Row& row) {
  std::vector<std::int64_t> values = whole_numbers(row);
  cells_ = values.size();
  if (values.empty()) return;
  value_ = double(values[0]);
  ascending_ = ascends(values) && (cells_ > 2 || values[0] == 0 || values[0] == 1);
  std::sort(values.begin(), values.end());
  whole_ = std::adjacent_find(values.begin(), values.end()) == values.end();
  for (const auto& field : row) last_.push_back(number(field.text));
}

void HeaderGuess::add(const Row& row) {
  if (!ascending_ && !whole_) return;
  ++rows_;
  const std::vector<std::int64_t> values = whole_numbers(row);
  if (ascends(values)) ascending_ = false;
  if (!values.empty()) whole_ = false;
  if (cells_ == 1 && !row.empty()) {
    const double value = number(row[0].text);
    if (!std::isnan(value)) low_ = std::min(low_, value), high_ = std::max(high_, value);
  }
  if (rows_ < followed_rows) follow_steps(row);
}

void HeaderGuess::follow_steps(const Row& row) {
  constexpr double close = 1e-9;
  const bool begins = rows_ == 1;
  if (begins) step_.assign(last_.size(), 0);
  for (std::size_t c = 0; c < std::min(row.size(), last_.size()); ++c) {
    const double value = number(row[c].text), step = value - last_[c];
    const bool equal = begins ? step != 0 : std::abs(step - step_[c]) <= close * std::abs(step);
    step_[c] = equal ? step : std::numeric_limits<double>::quiet_NaN();
    last_[c] = value;
  }
}

Remark HeaderGuess::remark(std::size_t line) {
  return {"header_of_numbers", "line " + std::to_string(line) +
                                   " looks like a header of numbers and was read as data; --header yes takes "
                                   "it for names, --header no for data"};
}

bool HeaderGuess::likely() const {
  const auto goes_on = [](double step) { return !std::isnan(step); };
  if (rows_ < 2 || std::any_of(step_.begin(), step_.end(), goes_on)) return false;
  if (ascending_) return true;
  return whole_ && (cells_ > 1 || value_ < low_ || value_ > high_);
}

}  // namespace kolmo
