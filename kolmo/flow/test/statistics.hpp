#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kolmo {

/// Says how a p-value is computed from S surrogates of which c are at least as large as the observed value:
///   plus_one   (1 + c) / (1 + S), which is never 0 and gives an exact test
///   plain      c / S, as in JIDT and IDTxl
enum class PValue : std::int32_t { plus_one, plain };
inline constexpr std::string_view p_value_names[] = {"plus-one", "plain"};
constexpr std::span<const std::string_view> names_of(PValue) { return p_value_names; }
/// The formula of a convention as text, for results.
std::string_view p_value_formula(PValue convention);

/// The p-value of a test in which so many of the surrogates reached the observed value; NaN if there are no surrogates.
double p_of_counts(std::int64_t exceedances, std::int64_t surrogates, PValue convention);

/// The p-value of `observed`; NaN if there are no surrogates.
double p_value(double observed, std::span<const double> surrogates, PValue convention);

/// Whether a p-value is significant at level alpha: p <= alpha for plus_one, p < alpha for plain. With plain,
/// p <= alpha would reject a true null hypothesis with a probability above alpha.
bool is_significant(double p, double alpha, PValue convention);

enum class Correction : std::int32_t { bh, bonferroni, none };
inline constexpr std::string_view correction_names[] = {"bh", "bonferroni", "none"};
constexpr std::span<const std::string_view> names_of(Correction) { return correction_names; }

/// Adjusted p-values, in the order given. An adjusted p <= alpha is significant at a false discovery rate of
/// alpha (bh: Benjamini, Hochberg, J. R. Stat. Soc. B 57, 289 (1995)) or at a family-wise error rate of alpha
/// (bonferroni). NaN counts as 1.
std::vector<double> adjust(std::span<const double> p, Correction correction);

/// Statistics of surrogate values: mean, standard deviation with the divisor n - 1, and the 95 % quantile,
/// which is the smallest value that at least 95 % of them do not exceed. NaN if there are too few.
struct Summary {
  double mean, deviation, q95;
};
Summary summarize(std::span<const double> values);

/// The p-value of the smallest of n p-values, corrected for choosing it: 1 - (1 - p)^n. It is conservative
/// for tests that depend on each other, as those of neighbouring lags do.
/// Source: Sidak, J. Am. Stat. Assoc. 62, 626 (1967).
double sidak(std::span<const double> p);

}  // namespace kolmo
