#pragma once
#include <cstdint>
#include <vector>

#include "kolmo/flow/estimate/estimate.hpp"
#include "kolmo/flow/test/statistics.hpp"

namespace kolmo {

class Progress;

struct PairsOptions {
  std::vector<std::int32_t> variables;  ///< indices into the series
  Coordinates given;
  EstimatorOptions estimator;
  PValue p_value = PValue::plus_one;
  Correction correction = Correction::bh;
};

/// I(x; y | given) of two variables at the same time, in nats. p_value is NaN if there was no test.
struct PairResult {
  std::int32_t x = 0, y = 0;
  std::int64_t samples = 0;
  double value = 0, p_value = 1, p_adjusted = 1;
  Summary surrogates{};
  std::int64_t surrogate_count = 0, min_shift = 0;
};

/// A series and options that fit each other; one number of neighbours is for all pairs. The series must outlive it.
struct PreparedPairs {
  const Series& series;
  PairsOptions options;  ///< settled, but for min_shift, which each pair has of its own
  std::vector<std::int32_t>
      ordered;  ///< the variables by their keys, so that their order in the file does not matter
  std::vector<std::int64_t> length;  ///< Autocorrelation::length by variable; empty if it sets no shift
};

/// Settles the options and checks them. Throws InvalidArgument, naming variable or option, for fewer than two variables, one that
/// is constant, and too few rows for a pair.
PreparedPairs prepare_pairs(const Series& series, const PairsOptions& options);

/// The task of pairs of y with some other variables, which lack values in the same rows. Its surrogates are made of x, and their
/// random numbers are those of a link from x to y.
EstimationTask pair_task(const PreparedPairs& prepared, std::span<const std::int32_t> x, std::int32_t y);

/// Estimates all pairs, each once, in the order of the variables: x comes before y. Surrogates are made of the one that comes
/// first by its key. Results depend only on data and options: not on devices, threads, batches or the order of the variables.
/// `progress` counts pairs_work and may be null.
std::vector<PairResult> estimate_pairs(const PreparedPairs& prepared, const Streams& streams,
                                       Progress* progress);

/// The work of all pairs, in estimates times rows.
double pairs_work(const PreparedPairs& prepared);

}  // namespace kolmo
