#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kolmo {

/// A column that holds text: labels of trials, or dates. Its cells are kept as numbers of words, and as dates while all of them
/// are dates.
class TextColumn {
 public:
  /// The most different words that are kept.
  static constexpr std::size_t most_words = 65536;

  /// Begins with the numbers that stood above the first text; NaN is a missing cell.
  explicit TextColumn(std::span<const double> numbers_above = {});
  void add(std::string_view text);
  void add_missing();
  /// Keeps these rows, in this order.
  void take(std::span<const std::size_t> rows);

  std::size_t rows() const { return rows_; }
  /// Whether every row holds a date.
  bool is_date() const { return dates_.size() == rows_ && rows_ > 0; }
  /// Microseconds since 1970, for is_date().
  const std::vector<std::int64_t>& dates() const { return dates_; }
  /// Whether labels are known: they are not if there are too many different ones.
  bool has_words() const { return word_.size() == rows_; }
  /// The label of a row, "" if it is missing, for has_words().
  const std::string& label(std::size_t row) const { return words_[word_[row]]; }

 private:
  std::vector<std::string> words_{""};
  std::map<std::string, std::uint32_t, std::less<>> number_{{"", 0}};
  std::vector<std::uint32_t> word_;
  std::vector<std::int64_t> dates_;
  std::size_t rows_ = 0;
};

}  // namespace kolmo
