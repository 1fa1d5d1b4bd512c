#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kolmo/flow/test/statistics.hpp"

namespace kolmo {

/// The surrogates of several variables: [variable][draw], equally many of each.
using SurrogateRows = std::vector<std::vector<double>>;

/// The largest and the smallest value of each draw over all variables.
std::vector<double> largest_of_draws(const SurrogateRows& rows);
std::vector<double> smallest_of_draws(const SurrogateRows& rows);

/// How many of `surrogates`, in their order, a test needs at level alpha: up to the one with which so many have reached the
/// observed value that the test cannot be significant any more, whatever the rest of `total` are. 0: it needs more than
/// these. A test that ends there has p = p_value of those, which is valid: Besag, Clifford, Biometrika 78, 301 (1991).
std::size_t surrogates_needed(double observed, std::span<const double> surrogates, std::size_t total,
                              double alpha, PValue convention);

/// p-values of variables that are tested together, in their order. The r-th largest of the observed values is compared, in
/// each draw, with
///   step_down   the largest over the variables that are not above it, so that one false variable or more is accepted
///               with a probability of at most alpha (Westfall, Young, Resampling-Based Multiple Testing, 1993, 2.6)
///   by_rank     the r-th largest, as IDTxl does: a variable that tells nothing passes beside m - 1 strong ones with the
///               probability alpha^(1/m)
/// and no p is smaller than that of a larger value.
std::vector<double> step_down(std::span<const double> observed, const SurrogateRows& surrogates,
                              PValue convention);
std::vector<double> by_rank(std::span<const double> observed, const SurrogateRows& surrogates,
                            PValue convention);
/// The same from p-values of each variable alone, by Sidak's correction for those that are not below it (Holm, Scand. J.
/// Stat. 6, 65 (1979)).
std::vector<double> step_down(std::span<const double> p);

}  // namespace kolmo
