#pragma once
#include <cstddef>
#include <cstdint>

#include "kolmo/base/arena.hpp"
#include "kolmo/knn/ksg.hpp"
#include "kolmo/knn/psi_sum.hpp"
#include "kolmo/knn/surrogate.hpp"
#include "kolmo/knn/theiler.hpp"

namespace kolmo::knn {

/// One estimation problem in host memory: b alternatives of x (n rows of dx columns each, `x_step` values
/// apart) with the same y and z, each for the observed data and `surrogates` rearrangements.
template <class T>
struct KsgProblem {
  std::int64_t n = 0, b = 0, x_step = 0;
  int dx = 0, dy = 0, dz = 0;
  const T *x = nullptr, *y = nullptr, *z = nullptr;
  const std::int64_t* time = nullptr;     ///< time of each row; null: 0, 1, 2, ...
  const std::int64_t* streams = nullptr;  ///< b stream numbers; null: first_stream + index
  std::int64_t first_stream = 0;
  const std::int64_t* min_shifts = nullptr;  ///< b shifts; null: that of the options
  std::int64_t k = 4, theiler = 0, surrogates = 0;
  KsgAlgorithm algorithm = KsgAlgorithm::ksg1;
  SurrogateOptions surrogate_options;
  double* value = nullptr;  ///< b rows of 1 + surrogates estimates
  double* local = nullptr;  ///< b rows, `local_step` apart, of n values; may be null
  std::int64_t local_step = 0;

  bool conditional() const { return dz > 0; }
  std::int64_t estimates() const { return 1 + surrogates; }
  /// Whether the Theiler window keeps rows i and j from being neighbours. It does so for i = j.
  bool excluded(std::int64_t i, std::int64_t j) const { return in_theiler_window(i, j, time, theiler); }
  SurrogateMap surrogate(std::int64_t alternative, std::int64_t number) const {
    const std::int64_t stream = streams ? streams[alternative] : first_stream + alternative;
    SurrogateOptions options = surrogate_options;
    if (min_shifts) options.min_shift = min_shifts[alternative];
    return {options, n, std::uint64_t(stream), std::uint64_t(number)};
  }
};

/// Computes one estimate at a time, by k-d trees and sorted columns. This serves any k, dimension and
/// algorithm, and gives local values. With `only_observed` the surrogates are left to lanes().
template <class T>
void trees(const KsgProblem<T>& problem, bool only_observed, Arena arena, int threads);
template <class T>
void trees_layout(const KsgProblem<T>& problem, Arena& arena, int threads);

/// Computes many estimates at once, one per vector lane, with neighbour lists in (y, z) that all of them
/// share.
template <class T>
bool lanes_fit(const KsgProblem<T>& problem);
template <class T>
void lanes(const KsgProblem<T>& problem, Arena arena, int threads);
template <class T>
void lanes_layout(const KsgProblem<T>& problem, Arena& arena, int threads);

}  // namespace kolmo::knn
