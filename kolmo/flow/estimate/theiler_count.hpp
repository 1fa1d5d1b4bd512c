#pragma once
#include "kolmo/flow/estimate/estimate.hpp"

namespace kolmo {

/// What is added to the local value of each row of an estimate that has a term psi(N): psi(N_i) - psi(N), where N_i counts
/// row i and the rows that may be its neighbours. A Theiler window of W leaves about N - 2 W of them, and psi(N) in their
/// place inflates the estimate by about ln(N / (N - 2 W)). Empty if nothing is added: without a window, and for
/// TheilerCount::all.
std::vector<double> theiler_corrections(const Series& series, std::span<const std::int64_t> times,
                                        const EstimatorOptions& options);

/// The mean of theiler_corrections(), or 0.
double theiler_correction(const Series& series, std::span<const std::int64_t> times,
                          const EstimatorOptions& options);

}  // namespace kolmo
