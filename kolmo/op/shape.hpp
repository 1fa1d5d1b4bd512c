#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "kolmo/base/tensor.hpp"

namespace kolmo {

/// Extents of up to max_rank dimensions, stored inline.
struct Extents {
  std::array<std::int64_t, max_rank> items{};
  int rank = 0;

  constexpr Extents() = default;
  constexpr Extents(std::initializer_list<std::int64_t> list) {
    for (const std::int64_t e : list) push(e);
  }
  constexpr void push(std::int64_t extent) {
    if (rank == max_rank) fail<InvalidArgument>("a tensor has at most 6 dimensions");
    items[std::size_t(rank++)] = extent;
  }
  constexpr const std::int64_t* begin() const { return items.data(); }
  constexpr const std::int64_t* end() const { return items.data() + rank; }
  constexpr std::size_t size() const { return std::size_t(rank); }
  constexpr std::int64_t operator[](std::size_t i) const { return items[i]; }
  friend constexpr bool operator==(const Extents& a, const Extents& b) {
    return a.rank == b.rank && a.items == b.items;
  }
};

/// One word of a shape string.
struct ShapeWord {
  std::string_view name;    ///< "n", or "..." for any dimensions; empty for a number
  std::int64_t offset = 0;  ///< the number, or the offset from the named size: -1 in "n-1"
  bool broadcast = false;   ///< "n?": may also be 1; "...?": may be any dimensions that broadcast as in NumPy
  constexpr bool batch() const { return name == "..."; }
  constexpr bool number() const { return name.empty(); }
};

/// The shape of a tensor argument, parsed at compile time from names separated by spaces: "... k", "n d",
/// "b 2 n-1", "n ...", "m? n". Equal names mean equal extents; "..." stands for any (batch) dimensions.
struct Shape {
  std::string_view text;
  std::array<ShapeWord, max_rank> words{};
  int count = 0;
  int batch = -1;  ///< index of "..." among the words, -1: none

  constexpr Shape() = default;
  constexpr Shape(const char* shape) : text(shape) {  // NOLINT(google-explicit-constructor)
    for (std::string_view rest = text; !rest.empty();) {
      const auto end = rest.find(' ') < rest.size() ? rest.find(' ') : rest.size();
      if (end) add(rest.substr(0, end));
      rest.remove_prefix(end < rest.size() ? end + 1 : end);
    }
  }
  constexpr const ShapeWord* begin() const { return words.data(); }
  constexpr const ShapeWord* end() const { return words.data() + count; }
  /// The number of dimensions outside "...".
  constexpr int named() const { return count - (batch >= 0); }
  constexpr bool has(std::string_view name) const {
    for (const ShapeWord& w : *this)
      if (w.name == name) return true;
    return false;
  }
  /// Compares the dimensions; whether they may be broadcast is ignored.
  friend constexpr bool operator==(const Shape& a, const Shape& b) {
    if (a.count != b.count) return false;
    for (int i = 0; i < a.count; ++i) {
      const ShapeWord &v = a.words[std::size_t(i)], &w = b.words[std::size_t(i)];
      if (v.name != w.name || v.offset != w.offset) return false;
    }
    return true;
  }

 private:
  constexpr void add(std::string_view word) {
    if (count == max_rank) fail<InvalidArgument>("a shape has at most 6 words");
    ShapeWord w;
    if (word.back() == '?') w.broadcast = true, word.remove_suffix(1);
    const bool digit = word[0] >= '0' && word[0] <= '9';
    const auto sign = digit || word == "..." ? word.npos : word.find_first_of("+-");
    if (!digit) w.name = word.substr(0, sign);
    if (digit || sign != word.npos) {
      std::int64_t n = 0;
      for (const char c : digit ? word : word.substr(sign + 1)) {
        if (c < '0' || c > '9') fail<InvalidArgument>("a shape has a number with letters");
        n = n * 10 + (c - '0');
      }
      w.offset = !digit && word[sign] == '-' ? -n : n;
    }
    if (w.batch() && batch >= 0) fail<InvalidArgument>("a shape has two '...'");
    if (w.batch()) batch = count;
    words[std::size_t(count++)] = w;
  }
};

}  // namespace kolmo
