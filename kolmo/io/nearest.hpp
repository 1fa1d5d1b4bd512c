#pragma once
#include <span>
#include <string>
#include <string_view>

namespace kolmo {

/// The number of characters to insert, remove, replace or swap with the next one to make `a` into `b`, where no
/// part is edited twice (optimal string alignment); above `most` some number above it.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t most);

/// The candidate that `word` may be a slip of: the nearest one by edit distance, the first of several, without
/// regard to case, if at most a third of its characters differ; empty if there is none.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace kolmo
