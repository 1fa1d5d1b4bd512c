#pragma once
#include <string>

#include "kolmo/flow/estimate/estimate.hpp"

namespace kolmo {

/// Why a value is finite only because the rows are, for a warning; "" if it is not. I(x;y|z) is infinite where x and z
/// determine a column of y that z alone does not, and what is estimated of it grows with the logarithm of the number of
/// rows. It is told
///   - of ksg, if a column of y is one of x, up to scale and shift, and none of z
///   - of gaussian, if 1 - r^2 of canonical variables is below 1e-13, which is rounding
///   - of ksg without z, if the estimate is near psi(N) - psi(k), the largest that N rows can show; for one column of x and
///     of y, if what is left of one after a curve through the other is too little for N rows to tell. The variance of that
///     is estimated from each three neighbours in order (Gasser, Sroka, Jennen-Steinmetz, Biometrika 73, 625, 1986), by
///     the median.
std::string why_infinite(const Series& series, const EstimationTask& task, std::size_t alternative,
                         double value, const EstimatorOptions& options);

}  // namespace kolmo
