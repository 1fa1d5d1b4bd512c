#pragma once
#include <string>
#include <vector>

#include "kolmo/flow/data/warning.hpp"
#include "kolmo/flow/estimate/estimate.hpp"

namespace kolmo {

/// Warns of properties of the variables of a series, after preparation:
///   constant         all values are equal; nothing else is told of such a variable
///   autocorrelated   Autocorrelation::inflation is above 1.5, so that permutation surrogates are exceeded too often; told
///                    only with such surrogates
///   few_effective_rows   the rows divided by that inflation are fewer than 40: surrogates of any kind are exceeded too
///                    often (docs/surrogates.md shows by how much)
///   unit_root        Dickey and Fuller's test (J. Am. Stat. Assoc. 74, 427, 1979; with a constant, no lags)
///                    does not reject a unit root or trend at 5 % (t > -2.86)
///   counter          every step between rows is 0 or one other number up to a thousandth of it, with at least three of these
///   periodic         the values repeat exactly, at least three times
///   constant_run     a run of more than 20 equal values, over a twentieth of the rows, among over 20 different values
///   repeated_values  over a tenth of the values occur elsewhere too; not told for discrete and ordinal
std::vector<Warning> inspect(const Series& series, const EstimatorOptions& options);

/// The variables that are constant or have a constant_run, such as "x (57 rows)", comma-separated; "" if none.
std::string constant_stretches(const Series& series);

}  // namespace kolmo
