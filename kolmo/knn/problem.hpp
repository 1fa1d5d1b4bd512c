#pragma once
#include <cstddef>
#include <cstdint>

#include "kolmo/base/ksg.hpp"
#include "kolmo/base/permutation.hpp"
#include "kolmo/base/psi_sum.hpp"

namespace kolmo::knn {

/// One estimation problem in host memory: b alternatives for x (n rows of dx columns each, `x_step` values
/// apart) against the same y and z, each observed and in `surrogates` rearrangements.
template <class T>
struct Problem {
  std::int64_t n = 0, b = 0, x_step = 0;
  int dx = 0, dy = 0, dz = 0;
  const T *x = nullptr, *y = nullptr, *z = nullptr;
  const std::int32_t* set = nullptr;      ///< null: one set
  const std::int64_t* streams = nullptr;  ///< b of them; null: first_stream + index
  std::int64_t first_stream = 0;
  std::int64_t k = 4, theiler = 0, surrogates = 0, block_length = 0, seed = 0;
  KsgAlgorithm algorithm = KsgAlgorithm::ksg1;
  SurrogateType surrogate_type = SurrogateType::permute;
  double* value = nullptr;  ///< b rows of 1 + surrogates estimates
  double* local = nullptr;  ///< b rows, `local_step` apart, of n values; may be null
  std::int64_t local_step = 0;

  bool conditional() const { return dz > 0; }
  /// Whether counts in (x, z) follow from intervals of ranks.
  bool ranked() const { return dx == 1 && dz <= 1; }
  std::int64_t estimates() const { return 1 + surrogates; }
  /// Rows the Theiler window excludes as neighbours of one another, each row itself included.
  bool excluded(std::int64_t i, std::int64_t j) const {
    const std::int64_t apart = i < j ? j - i : i - j;
    return apart <= theiler && (!set || set[i] == set[j]);
  }
  SurrogateMap surrogate(std::int64_t alternative, std::int64_t number) const {
    const std::int64_t stream = streams ? streams[alternative] : first_stream + alternative;
    return {surrogate_type,      std::uint32_t(n),      std::uint32_t(block_rows()),
            std::uint64_t(seed), std::uint64_t(stream), std::uint64_t(number)};
  }
  std::int64_t block_rows() const {
    if (block_length) return block_length < n ? block_length : n;
    std::int64_t root = 1;
    while ((root + 1) * (root + 1) <= n) ++root;
    return root;
  }
};

class Arena;

/// One estimate at a time, by k-d trees and sorted columns: any k, dimension and algorithm, local values.
/// `only_observed` leaves the surrogates to lanes().
template <class T>
void trees(const Problem<T>& problem, bool only_observed, Arena arena, int threads);
template <class T>
void trees_layout(const Problem<T>& problem, Arena& arena, int threads);

/// Many estimates at once, one per vector lane, over neighbour lists in (y, z) that all of them share.
template <class T>
bool lanes_fit(const Problem<T>& problem);
template <class T>
void lanes(const Problem<T>& problem, Arena arena, int threads);
template <class T>
void lanes_layout(const Problem<T>& problem, Arena& arena, int threads);

}  // namespace kolmo::knn
