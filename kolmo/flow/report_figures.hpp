#pragma once

#include <string>

#include "kolmo/flow/network_document.hpp"
#include "kolmo/flow/report.hpp"

/// The figures of the report as static SVG text. Colours come from classes of report.css and palette_css().
namespace kolmo::figures {

/// Colours of the sequential scale: class q0 (nothing) to q31 (the largest value), for light and dark pages.
inline constexpr int kColours = 32;
std::string palette_css();
/// The class index of `value` on a scale from 0 to `largest`; values at or below 0 and NaN are 0.
int colour_of(double value, double largest);

/// What hovering over a link shows, escaped: names, value, lag, p-values.
std::string link_title(const NetworkDocument& network, const NetworkLink& link);

/// The significant edges between all variables on a circle, ordered so that connected ones lie close.
std::string network_graph(const NetworkDocument& network);
/// Whether there is room in that figure to write the lag on each edge.
bool shows_lags(const NetworkDocument& network);

/// Every ordered pair, rows are sources and columns targets; a dot marks significant pairs.
std::string heat_map(const NetworkDocument& network);

/// Transfer entropy at every lag of one link, with the 95 % quantile of its surrogates.
std::string lag_profile(const NetworkDocument& network, const NetworkLink& link);

/// All series one above the other; at most 2000 points each, longer ones as the envelope of minima and
/// maxima.
std::string series_plot(const ReportSeries& series);

}  // namespace kolmo::figures
