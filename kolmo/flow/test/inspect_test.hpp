#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "kolmo/flow/data/warning.hpp"
#include "kolmo/flow/estimate/estimate.hpp"

namespace kolmo {

/// Of fewer different surrogates than this few_surrogates warns.
inline constexpr std::int64_t few_different = 99;

/// Warns of few_surrogates, if fewer than few_different are different (see different_surrogates) and fewer than `wanted`; and of
/// fewer_surrogates, if only the latter.
std::optional<Warning> few_surrogates(std::int64_t different, const EstimatorOptions& options,
                                      std::int64_t wanted);

/// Warns of `analytic_test`: two columns are both autocorrelated, and the p-value of their mutual information is analytic. The
/// variance of a covariance grows by the factor 1 + 2 sum r_x(lag) r_y(lag) (Bartlett 1935), so that p is too small. Columns with a
/// factor above 1.5 are named.
class AnalyticTests {
 public:
  /// `series` must outlive it.
  explicit AnalyticTests(const Series& series) : series_(series) {}
  /// Inspects the test of two variables in so many rows.
  void add(std::int32_t x, std::int32_t y, std::size_t rows);
  std::vector<Warning> warnings() const;

 private:
  const std::vector<double>& autocorrelations(std::int32_t variable);

  const Series& series_;
  std::map<std::int32_t, std::vector<double>> known_;
  SharedWarnings found_;
};

/// The same for each column of x with each of y, if their test is analytic.
std::vector<Warning> inspect_analytic_test(const Series& series, const EstimationTask& task,
                                           const EstimatorOptions& options);

/// Warns if surrogates by trials left out rows of longer trials.
std::vector<Warning> trials_cut(std::size_t used, std::size_t all);

/// Warns of ksg2_biased, for the algorithm ksg2 with a condition; and of undersampled, for frequencies of too many states.
std::vector<Warning> inspect_estimator(const Series& series, const EstimationTask& task,
                                       std::size_t alternative, const EstimatorOptions& options);

}  // namespace kolmo
