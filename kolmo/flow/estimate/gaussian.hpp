#pragma once
#include "kolmo/flow/estimate/estimate.hpp"

namespace kolmo {

/// I(x;y|z) in nats of the linear Gaussian model, from the covariances S of the rows:
///   I = 1/2 ln( |S_xz| |S_yz| / (|S_z| |S_xyz|) ) = -1/2 sum ln(1 - r_i^2)
/// with r_i the canonical correlations of x and y after regression on z. The scale and mean of a column
/// change nothing. A column that the ones before it determine (residual below 1e-10 of the column) is left
/// out. 1 - r^2 is taken as at least 2^-52, so that a relation without any noise gives 18 nats. Without
/// surrogates each alternative gets an analytic p-value (analytic_test.hpp). Throws InvalidArgument, naming
/// the task, if there are not more rows than dimensions plus one.
/// Source: Cover, Thomas, Elements of Information Theory, 2nd ed., 8.5; Barnett, Barrett, Seth, Phys. Rev.
/// Lett. 103, 238701 (2009): twice the transfer entropy is Granger's log ratio.
std::vector<Estimates> gaussian_estimates(const Series& series, std::span<const EstimationTask> tasks,
                                          const EstimatorOptions& options, SurrogateRange draws,
                                          const Stream& stream, Progress* progress = nullptr);

/// Local values of the first alternative: ln of the ratio of the fitted densities p(x,y|z) and p(x|z) p(y|z) at each
/// row, in nats; the covariances have the divisor N, so that their mean is the value of gaussian_estimates. Throws
/// InvalidArgument, naming the task, where x is determined by y and z, as then there is no density.
/// Source: Lizier, The Local Information Dynamics of Distributed Computation in Complex Systems (2013), 2.4.
std::vector<double> gaussian_local_values(const Series& series, const EstimationTask& task);

/// The expected value in nats of columns without any relation: dx dy / (2 N).
constexpr double gaussian_bias(std::size_t dx, std::size_t dy, std::size_t rows) {
  return double(dx) * double(dy) / (2 * double(rows));
}

}  // namespace kolmo
