#pragma once
#include "kolmo/flow/estimate/estimate.hpp"

namespace kolmo {

/// The nearest neighbours of `--neighbors auto` for so many rows and columns of the joint space: rows^(4 / (4 + columns)) / 5, at
/// least 4 and at most 64. The exponent is that of the least mean square error of a density by nearest neighbours (Mack and
/// Rosenblatt 1979, J. Multivariate Anal. 9, 1). The factor and the bounds are from bench/neighbors/study.py: with weak
/// dependence, which tests look for, errors are a third smaller than with 4; with strong dependence of heavy tails or edges they
/// are larger, because more neighbours bring more bias.
std::int64_t chosen_neighbors(std::int64_t rows, std::int64_t columns);

/// The options with chosen_neighbors() if they leave neighbors to be chosen.
EstimatorOptions with_neighbors(EstimatorOptions options, std::int64_t rows, std::int64_t columns);

/// "--neighbors auto: 10 nearest neighbours": what is said of them.
std::string neighbors_note(const EstimatorOptions& options);

}  // namespace kolmo
