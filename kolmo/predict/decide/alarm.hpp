#pragma once
#include <span>
#include <string>
#include <string_view>

namespace kolmo::predict {

/// Why the mean losses of the blocks so far are alarming, or nothing:
///   - the last is no finite number;
///   - the last is above the median m of the 20 before by m / 2 and by 10 of their robust standard deviations;
///   - a drift: the last quarter of the blocks is above the quarter before by 4 standard errors and above some earlier quarter by 6, and
///     by 8/n more of that where a quarter has n blocks, which are 10 at least. Standard errors are those around a straight line, and
///     count the autocorrelation of order 1.
/// Diverging trainings are rare, and no alarm has been tried on more than simulated ones.
std::string alarm_of(std::span<const double> losses);
/// Whether the reason of an alarm is a drift, which is slow and needs no rescue.
bool only_drifts(std::string_view reason);

}  // namespace kolmo::predict
