#pragma once
#include "kolmo/flow/estimate/estimate.hpp"

namespace kolmo {

/// Differential entropy in nats of the joint distribution of the coordinates, by k nearest neighbours:
///   H = psi(N) - psi(k) + d < ln eps_i >
/// where d is the number of coordinates and eps_i is twice the distance of row i to its k-th neighbour in the
/// maximum norm. If the columns are standardised, the logarithms of their standard deviations are added: H is
/// the entropy of the data as given. 0 if a column is constant, of which the formula would give that of its noise. Throws InvalidArgument if a distance is 0 (equal rows and no noise) or
/// there are too few rows.
/// Source: Kozachenko, Leonenko, Probl. Inf. Transm. 23, 95 (1987); Kraskov et al. (2004), eq. 20.
double entropy(const Series& series, const Coordinates& coordinates, const EstimatorOptions& options,
               Stream& stream);

}  // namespace kolmo
