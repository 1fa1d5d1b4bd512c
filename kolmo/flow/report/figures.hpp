#pragma once

#include <string>

#include "kolmo/flow/report/report.hpp"
#include "kolmo/flow/result/network_document.hpp"

/// The figures of the report as static SVG text. Colours come from classes of report.css and palette_css().
namespace kolmo::figures {

/// Colours of the sequential scale: class q0 (value 0) to q31 (the largest value), for light and dark pages.
inline constexpr int kColours = 32;
std::string palette_css();
/// The class index of `value` on a scale from 0 to `largest`; 0 for NaN and for values at or below 0.
int colour_of(double value, double largest);

/// Groups of variables have the classes g0 to g9; the eleventh group has g0 again.
inline constexpr std::size_t kGroupColours = 10;

/// The escaped tooltip of a link: names, values, lag, p-values.
std::string link_title(const NetworkDocument& network, const NetworkLink& link);

/// The significant links between all variables on a circle, ordered so that connected ones lie close.
std::string network_graph(const NetworkDocument& network);
/// The number of links that network_graph() shows, the strongest ones, and the number of those that it shows
/// with their lags.
std::size_t shown_links(const NetworkDocument& network);
std::size_t shown_lags(const NetworkDocument& network);

/// Every variable at every lag, from left to right in time, and an arrow to the next value for each lag of a significant link and for
/// each value of the own past that a greedy search chose. Empty if there is no such link or too much to be told apart.
std::string time_graph(const NetworkDocument& network);

/// Every ordered pair of variables, coloured by strength(); rows are sources and columns targets. A dot marks
/// significant pairs, and the others are faded. The script can colour it by another measure.
std::string heat_map(const NetworkDocument& network);
/// The place where the script draws the matrix of a large network, with its colour scale.
std::string canvas_matrix(const NetworkDocument& network);

/// Transfer entropy at every lag of one link, with the 95 % quantile of its surrogates.
std::string lag_profile(const NetworkDocument& network, const NetworkLink& link);

/// All series, one above the other, with at most 2000 points each. Longer series are drawn as the envelope of
/// minima and maxima.
std::string series_plot(const ReportSeries& series);

}  // namespace kolmo::figures
