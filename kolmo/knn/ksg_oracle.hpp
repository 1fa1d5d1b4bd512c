#pragma once
#include <vector>

#include "kolmo/base/tensor.hpp"
#include "kolmo/knn/ksg.hpp"

namespace kolmo::check {

/// Points as rows of columns, in the precision the operator works in.
template <class T>
using Rows = std::vector<std::vector<T>>;

/// Rows [begin, end) of a host tensor of shape (n, d), or of its part b if the shape is (b, n, d). Without
/// the tensor the rows have no columns.
template <class T>
Rows<T> rows_of(const Tensor& tensor, std::int64_t b, std::int64_t begin, std::int64_t end);

struct KsgSettings {
  std::int64_t k = 4, theiler = 0, surrogates = 0, block_length = 0, min_shift = 1, first = 0;
  std::uint64_t seed = 0;
  KsgAlgorithm algorithm = KsgAlgorithm::ksg1;
  SurrogateType surrogate_type = SurrogateType::permute;
  std::vector<std::int64_t> time = {};  ///< the time of each row; empty: 0, 1, 2, ...
};

struct KsgEstimates {
  std::vector<long double> values;  ///< estimate of the observed data, then those of the surrogates
  std::vector<long double> local;   ///< local values of the observed data
};

/// Computes I(x;y|z), or I(x;y) if z has no columns, directly from the definition: it compares all pairs of
/// rows, and takes psi(n) as a harmonic sum in long double. `stream` is the random stream of the surrogates.
template <class T>
KsgEstimates ksg_estimates(const Rows<T>& x, const Rows<T>& y, const Rows<T>& z, const KsgSettings& settings,
                           std::int64_t stream = 0);

}  // namespace kolmo::check
