#include "kolmo/io/nearest.hpp"

#include <algorithm>
#include <vector>

namespace kolmo {
namespace {

constexpr std::size_t longest_word = 64;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = char(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return lower;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t most) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return most + 1;
  std::vector<std::size_t> two_back(b.size() + 1), back(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(two_back, back), std::swap(back, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({back[j] + 1, row[j - 1] + 1, back[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_back[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  if (word.size() > longest_word) return "";
  const std::string wanted = lower_case(word);
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    const std::size_t distance = edit_distance(wanted, lower_case(candidate), least - 1);
    if (distance < least && distance < longer) best = &candidate, least = distance;
  }
  return best ? *best : "";
}

}  // namespace kolmo
