#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/flow/result/network_document.hpp"
#include "kolmo/flow/test/statistics.hpp"

namespace kolmo {

/// The value less the mean of its surrogates, which estimates its bias; NaN without surrogates.
double bias_corrected(const NetworkLink& link);
/// The number that figures show: the bias-corrected value, or without surrogates the value itself.
double strength(const NetworkLink& link);
/// (value - surrogate mean) / surrogate standard deviation; NaN if that deviation is not above 0.
double z_score(const NetworkLink& link);

/// The number of surrogates that the link was compared with.
std::int64_t surrogate_count(const NetworkDocument& network, const NetworkLink& link);
/// The numbers of surrogates of all links, such as "1000" or "185 to 189".
std::string surrogates_used(const NetworkDocument& network);
/// Whether no surrogate reached the link's value, so that p is the smallest that this number can give.
bool p_at_floor(const NetworkDocument& network, const NetworkLink& link);
bool p_at_floor(double p, std::int64_t surrogates, PValue convention);
/// The p-value with 3 digits. At its floor "<= 1/1001", or "< 1/1000" if the convention is c / S; "-" for
/// NaN.
std::string p_text(const NetworkDocument& network, const NetworkLink& link);
std::string p_text(double p, std::int64_t surrogates, PValue convention);

/// For each variable the sums of strength() over its significant links, and the numbers of these links: [0]
/// sent, [1] received.
struct Totals {
  explicit Totals(const NetworkDocument& network);
  std::vector<std::array<double, 2>> flow;
  std::vector<std::array<int, 2>> links;
};

/// The links of the document as CSV, in its order, one row each. Columns: source, target, lag, lags (only of greedy
/// searches: those that were chosen), lag_time (only with a time step), value, bias_corrected, z, surrogate_mean, surrogate_std, surrogate_q95, p_value,
/// p_at_floor (true or false), p_adjusted, significant (true or false), surrogates, units. Numbers read back
/// as the same doubles; NaN is an empty cell. Without links, of measure `ais`, it is storage_table_csv. Throws the exceptions of
/// checked().
std::string link_table_csv(const NetworkDocument& network);

}  // namespace kolmo
