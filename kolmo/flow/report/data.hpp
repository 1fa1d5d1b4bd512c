#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "kolmo/flow/result/network_document.hpp"

namespace kolmo {

/// Networks of more variables are drawn by the page's script from report_data, not as text.
inline constexpr std::size_t kMostDrawnVariables = 60;

/// Whole numbers as text: each takes `characters` digits of the base64 alphabet, the most significant first,
/// and must be below 64^characters.
std::string packed(std::span<const std::uint32_t> codes, int characters);

/// The network as the page's script reads it (report/data.js), in about 20 bytes a pair. Grids have a code for every source
/// and target, at source * n + target; code 0 means that there is no number.
///   value, mean, std, q95   low + (code - 1) * step, with `low` and `steps` of each grid; without surrogates only value
///   lag                     1 + 2 lag + (1 if the link is significant)
///   p                       1 + the place in `levels`, which hold p, the adjusted p and, if p is at its
///                           floor, its text; large networks have them with three digits
///   profiles                the values at lags 1 to `lags` of each cell. If those of a large network would take too
///                           much space, only of the strongest links: the cells in `profiled`, in its order
/// The step is the range of all values divided by 2^24; in large networks by 2^18, and for profiles by 2^12.
nlohmann::ordered_json report_data(const NetworkDocument& network);

}  // namespace kolmo
