#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "kolmo/topology/rips.hpp"

namespace kolmo::topology {

/// The persistence of a filtration of few points by the standard reduction of the boundary matrix over all simplices of up
/// to 3 points. Shares nothing with the library but the distances.
inline Diagrams naive_persistence(const Distances& distances, double threshold) {
  using Simplex = std::vector<int>;
  const int n = int(distances.count());
  const auto length = [&](int i, int j) {
    return i == j ? 0 : distances.to_earlier(std::max(i, j))[std::min(i, j)];
  };
  std::vector<std::pair<double, Simplex>> simplices;
  for (int i = 0; i < n; ++i) {
    simplices.push_back({0, {i}});
    for (int j = i + 1; j < n; ++j) {
      simplices.push_back({length(i, j), {i, j}});
      for (int k = j + 1; k < n; ++k)
        simplices.push_back({std::max({length(i, j), length(i, k), length(j, k)}), {i, j, k}});
    }
  }
  std::erase_if(simplices, [&](const auto& s) { return s.first > threshold || s.first == HUGE_VAL; });
  std::ranges::sort(simplices, [](const auto& a, const auto& b) {
    return std::tuple(a.first, a.second.size(), a.second) < std::tuple(b.first, b.second.size(), b.second);
  });
  std::map<Simplex, int> place;
  for (std::size_t s = 0; s < simplices.size(); ++s) place[simplices[s].second] = int(s);
  std::map<int, std::vector<int>> reduced;  // columns by their lowest row
  std::vector<char> dead(simplices.size());
  Diagrams found{{}, {}, threshold};
  const auto add = [&](std::size_t dimension, double birth, double death) {
    if (death > birth && dimension < 2) (dimension ? found.h1 : found.h0).push_back({birth, death});
  };
  for (std::size_t s = 0; s < simplices.size(); ++s) {
    std::vector<int> column;
    for (std::size_t k = 0; simplices[s].second.size() > 1 && k < simplices[s].second.size(); ++k) {
      Simplex face = simplices[s].second;
      face.erase(face.begin() + std::ptrdiff_t(k));
      column.push_back(place.at(face));
    }
    std::ranges::sort(column);
    while (!column.empty() && reduced.contains(column.back())) {
      std::vector<int> sum;
      std::ranges::set_symmetric_difference(column, reduced[column.back()], std::back_inserter(sum));
      column = std::move(sum);
    }
    if (column.empty()) continue;
    const auto low = std::size_t(column.back());
    add(simplices[low].second.size() - 1, simplices[low].first, simplices[s].first);
    dead[low] = dead[s] = 1;
    reduced[column.back()] = std::move(column);
  }
  for (std::size_t s = 0; s < simplices.size(); ++s)
    if (!dead[s]) add(simplices[s].second.size() - 1, simplices[s].first, HUGE_VAL);
  std::ranges::sort(found.h0);
  std::ranges::sort(found.h1);
  return found;
}

}  // namespace kolmo::topology
