#pragma once
#include "kolmo/flow/estimate/estimate.hpp"

namespace kolmo {

/// Returns psi(N_i) - psi(N) for each row i, which is added to its local value in estimates that have a term psi(N). N_i
/// counts row i and the rows that may be its neighbours: a Theiler window of W leaves about N - 2 W of them, so that psi(N)
/// alone inflates the estimate by about ln(N / (N - 2 W)). Returns nothing without a window and for TheilerCount::all.
std::vector<double> theiler_corrections(const Series& series, std::span<const std::int64_t> times,
                                        const EstimatorOptions& options);

/// Returns the mean of theiler_corrections(), or 0 where there are none.
double theiler_correction(const Series& series, std::span<const std::int64_t> times,
                          const EstimatorOptions& options);

}  // namespace kolmo
