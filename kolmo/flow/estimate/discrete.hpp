#pragma once
#include "kolmo/flow/estimate/estimate.hpp"

namespace kolmo {

/// I(x;y|z) in nats from the frequencies of states. States are the different values of a column, and the combinations of
/// values of several:
///   I = H(x,z) + H(y,z) - H(x,y,z) - H(z),  H = - sum (n_i / N) ln(n_i / N)
/// Bias::none gives this plug-in value, which is never below 0 or above the logarithm of the number of
/// states. Bias::miller_madow adds (K - 1) / (2 N) to each H, where K is the number of states seen; the value
/// may then lie a little beyond both bounds. The terms are added as integers, so that equal tables give equal
/// bits. Throws InvalidArgument as check_states does.
/// Source: Miller, Information Theory in Psychology, 95 (1955); Paninski, Neural Comput. 15, 1191 (2003).
std::vector<Estimates> discrete_estimates(const Series& series, std::span<const EstimationTask> tasks,
                                          const EstimatorOptions& options, SurrogateRange draws,
                                          const Stream& stream, Progress* progress = nullptr);

/// Local plug-in values of the first alternative, ln( n_xyz n_z / (n_xz n_yz) ) at each row, in nats: their mean is the
/// value with Bias::none. Throws InvalidArgument as check_states does.
std::vector<double> discrete_local_values(const Series& series, const EstimationTask& task,
                                          const EstimatorOptions& options);

/// Throws InvalidArgument, naming file and column, for a variable with more than 10 different values that are
/// also more than a fifth of its rows, as frequencies of such states say nothing. Does nothing for other
/// estimators than discrete and ordinal.
void check_states(const Series& series, std::span<const std::int32_t> variables,
                  const EstimatorOptions& options);

/// The bias of the estimate of a task without z: the mean of the estimate over all orders of the rows of x, as the
/// information is 0 there. It is exact, not drawn: how often states of x and of y that occur a and b times meet in N
/// rows has a hypergeometric distribution.
/// Source: Vinh, Epps, Bailey, J. Mach. Learn. Res. 11, 2837 (2010).
double discrete_bias(const Series& series, const EstimationTask& task, const EstimatorOptions& options);

/// Why frequencies of the joint states of a task say little, for a warning; "" if they do not: fewer rows than x, y and z have
/// joint states, each of x, y and z taken as often as it occurs, or most of the joint states that occur do so once. The
/// plug-in estimate is then near the logarithm of the number of states, whatever the truth (Panzeri et al., J. Neurophysiol. 98, 1064, 2007).
/// "" for other estimators than discrete and ordinal.
std::string undersampled_states(const Series& series, const EstimationTask& task, std::size_t alternative,
                                const EstimatorOptions& options);

}  // namespace kolmo
