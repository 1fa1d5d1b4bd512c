#pragma once
#include <vector>

#include "kolmo/base/ksg.hpp"

namespace kolmo::check {

/// Points as rows of columns, in the precision the operator works in.
template <class T>
using Rows = std::vector<std::vector<T>>;

struct KsgSettings {
  std::int64_t k, theiler;
  KsgAlgorithm algorithm;
  std::vector<std::int32_t> set;  ///< one per row; empty: one set
};

/// Local values of I(x;y|z), or of I(x;y) when z has no columns, straight from the definition: every pair of
/// rows, psi(n) as a harmonic sum in long double. Their mean is the estimate.
template <class T>
std::vector<long double> ksg_local_values(const Rows<T>& x, const Rows<T>& y, const Rows<T>& z,
                                          const KsgSettings& settings);

}  // namespace kolmo::check
