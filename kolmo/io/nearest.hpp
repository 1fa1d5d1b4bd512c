#pragma once
#include <span>
#include <string>
#include <string_view>

namespace kolmo {

/// The number of characters to insert, remove, replace or swap with the next one that turn `a` into `b`,
/// where no part is edited twice (optimal string alignment). If it is above `most`, some number above `most`.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t most);

/// The candidate that `word` may be misspelt from: the nearest one by edit distance, the first of several,
/// without regard to case, if at most a third of its characters differ. Empty if there is none.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace kolmo
