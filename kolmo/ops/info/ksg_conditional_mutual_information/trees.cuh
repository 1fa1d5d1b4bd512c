#pragma once
// The variant that searches trees, for the source that chooses among variants.
#include <cmath>

#include "kolmo/base/arena.hpp"
#include "kolmo/knn/ksg_space.cuh"
#include "kolmo/ops/info/ksg_conditional_mutual_information/plan.cuh"

namespace kolmo {
namespace on_cuda {

/// Lays out the workspace, which begins with what plan_of() lays out. S is the type in which the search compares: T, or f32
/// for images.
template <class T, class S>
void lay_trees(const KsgConditionalMutualInformationArgs& a, Arena& arena);
/// Adds the terms of all estimates. ksg_prepare and ksg_gather have run.
template <class T, class S>
void launch_trees(const KsgConditionalMutualInformationArgs& a, Arena arena, Stream& s);

}  // namespace on_cuda
namespace {

inline bool trees_fit(const KsgConditionalMutualInformationArgs& a) {
  return a.k <= 16 && columns_of(a.x) + columns_of(a.y) + columns_of(a.z) <= cuda::most_tree_columns;
}

/// Whether one estimate after another by trees takes less time than all of them by walks along one column. The times
/// were fitted on an H200 to 1000 to 10^6 rows and 2 to 8 columns (d): a walk passes through the rows of a problem
/// that are as near in one column as the k-th neighbour is in all. Only their ratio matters. Lists, which estimates share,
/// take about a quarter of the time of walks, and are taken wherever they fit unless f64 is `slow` times as slow as on an
/// H200: then trees, which search by images, do not get slower with it.
inline bool trees_pay(const KsgConditionalMutualInformationArgs& a, bool lists_fit, double slow) {
  if (lists_fit && slow == 1) return false;
  const int columns = columns_of(a.x) + columns_of(a.y) + columns_of(a.z);
  const bool single = columns_of(a.x) == 1 && columns_of(a.y) == 1 && columns_of(a.z) <= 1;
  const double n = double(a.y.extent[0]), d = columns, e = double(a.x.extent[0]) * double(1 + a.surrogates);
  const double rows = n / (a.segments.given() ? double(a.segments.extent[0] - 1) : 1.0);  // of a problem
  const double walks =
      5e-5 + slow * (1.2e-8 * rows + e * (single ? 1.6e-11 : 4.3e-11) * n * std::pow(rows, 1 - 1 / d));
  const double trees = 6e-5 * d + e * (1e-4 + 1.7e-4 * (d - 1) * (d - 1) * std::pow(n / 30000, 0.65));
  return trees < walks / (lists_fit ? 4 : 1);
}

}  // namespace
}  // namespace kolmo
