#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kolmo/flow/report/data.hpp"
#include "kolmo/flow/report/figures.hpp"
#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/flow/result/markup.hpp"
#include "kolmo/flow/result/ticks.hpp"

namespace kolmo::figures {
namespace {

constexpr std::size_t kMaxPoints = 2000, kLongestSeriesName = 40;

struct PlotPoint {
  double at = 0, value = 0;
};

// The finite values in order, with one NaN for each gap. A series of more than `most` values is cut into half
// as many intervals and reduced to the minimum and the maximum of each, in the order in which they occur.
std::vector<PlotPoint> drawn_points(const std::vector<double>& values, std::size_t most) {
  std::vector<PlotPoint> drawn;
  const auto add = [&](std::size_t i) { drawn.push_back({static_cast<double>(i), values[i]}); };
  if (values.size() <= most) {
    for (std::size_t i = 0; i < values.size(); ++i) add(i);
    return drawn;
  }
  const std::size_t intervals = most / 2;
  for (std::size_t interval = 0; interval < intervals; ++interval) {
    const std::size_t end = (interval + 1) * values.size() / intervals;
    std::size_t low = end, high = end;
    for (std::size_t i = interval * values.size() / intervals; i < end; ++i) {
      if (!std::isfinite(values[i])) continue;
      if (low == end || values[i] < values[low]) low = i;
      if (high == end || values[i] > values[high]) high = i;
    }
    if (low == end) {
      drawn.push_back({static_cast<double>(end), std::nan("")});
      continue;
    }
    add(std::min(low, high));
    if (low != high) add(std::max(low, high));
  }
  return drawn;
}

}  // namespace

std::string link_title(const NetworkDocument& network, const NetworkLink& link) {
  return markup::escape(fmt::format(
      "{} \u2192 {}\nTE {} {} at lag {}\n{}p {}, adjusted {}{}", network.variables[link.source],
      network.variables[link.target], markup::number(link.value), network.units, network.lag_text(link.lag),
      network.compared() ? fmt::format("bias-corrected {}, z {}\n", markup::number(bias_corrected(link)),
                                       markup::number(z_score(link)))
                         : "",
      p_text(network, link), markup::number(link.p_adjusted),
      link.significant || !network.tested() ? "" : "\nnot significant"));
}

std::string lag_profile(const NetworkDocument& network, const NetworkLink& link) {
  constexpr double kWidth = 230, kHeight = 118, kLeft = 8, kRight = 222, kTop = 20, kBottom = 96;
  double high = std::isnan(link.surrogate_q95) ? 0 : link.surrogate_q95, low = 0;
  int first = link.lag, last = link.lag;
  for (const LagValue& point : link.profile) {
    if (!std::isfinite(point.value)) continue;
    high = std::max(high, point.value);
    low = std::min(low, point.value);
    first = std::min(first, point.lag);
    last = std::max(last, point.lag);
  }
  if (high <= low) high = low + 1;
  const double slot = (kRight - kLeft) / (last - first + 1), bar = std::min(0.62 * slot, 26.0);
  const auto x_of = [&](int lag) { return kLeft + slot * (lag - first + 0.5); };
  const auto y_of = [&](double value) { return kBottom - (kBottom - kTop) * (value - low) / (high - low); };

  std::string out;
  auto to = std::back_inserter(out);
  fmt::format_to(to,
                 "<svg class=\"profile\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Transfer entropy "
                 "against lag, {} "
                 "to {}; largest {} at lag {}\">",
                 kWidth, kHeight, markup::escape(network.variables[link.source]),
                 markup::escape(network.variables[link.target]), markup::number(link.value), link.lag);
  const int every = std::max(1, static_cast<int>(std::ceil((last - first + 1) / 12.0)));
  for (const LagValue& point : link.profile) {
    if (!std::isfinite(point.value)) continue;
    const bool best = point.lag == link.lag;
    const double x = x_of(point.lag), y = y_of(point.value), zero = y_of(0);
    fmt::format_to(to,
                   "<rect class=\"bar{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
                   "rx=\"1\"><title>lag {}\n{} "
                   "{}</title></rect>",
                   best ? " best" : "", x - bar / 2, std::min(y, zero), bar,
                   std::max(std::abs(y - zero), 0.6), markup::escape(network.lag_text(point.lag)),
                   markup::number(point.value), markup::escape(network.units));
    if (best)
      fmt::format_to(to, "<text class=\"value\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                     std::clamp(x, kLeft + 18, kRight - 18), std::min(y, zero) - 5,
                     markup::number(point.value));
    if (best || ((point.lag - first) % every == 0 && std::abs(point.lag - link.lag) >= every))
      fmt::format_to(to, "<text class=\"tick{}\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"112\">{}</text>",
                     best ? " best" : "", x, point.lag);
  }
  fmt::format_to(to, "<path class=\"rule\" d=\"M{0} {2:.1f}H{1}\"/>", kLeft, kRight, y_of(0));
  if (!std::isnan(link.surrogate_q95))
    fmt::format_to(to,
                   "<path class=\"null\" d=\"M{0} {2:.1f}H{1}\"><title>95 % quantile of the "
                   "surrogates\n{3}</title></path>",
                   kLeft, kRight, y_of(link.surrogate_q95), markup::number(link.surrogate_q95));
  return out + "</svg>";
}

std::string series_plot(const ReportSeries& series) {
  const std::size_t n = series.values.size();
  std::size_t rows = 0, longest = 3;
  for (std::size_t i = 0; i < n; ++i) {
    rows = std::max(rows, series.values[i].size());
    longest = std::max(longest, std::min(markup::code_points(series.names[i]), kLongestSeriesName + 1));
  }
  const double row = n <= 6                     ? 84
                     : n <= 16                  ? 54
                     : n <= kMostDrawnVariables ? 30
                                                : 16,
               font = n <= kMostDrawnVariables ? 13 : 11;
  const int decimals = n <= kMostDrawnVariables ? 1 : 0;
  const std::size_t most = n <= kMostDrawnVariables ? kMaxPoints : std::max<std::size_t>(100, 20'000 / n);
  const double left = 0.62 * font * static_cast<double>(longest) + 14, right = 1010, top = 6;
  const double bottom = top + row * static_cast<double>(n),
               span = std::max<double>(1, static_cast<double>(rows) - 1);
  const auto x_of = [&](double at) { return left + (right - left) * at / span; };

  std::string out;
  auto to = std::back_inserter(out);
  fmt::format_to(to,
                 "<svg class=\"series\" viewBox=\"0 0 1080 {:.0f}\" style=\"min-width:620px;font-size:{}px\" "
                 "role=\"group\" "
                 "aria-label=\"{} time series\" data-left=\"{:.1f}\" data-right=\"{}\" data-last=\"{}\">\n",
                 bottom + 40, font, n, left, right, rows == 0 ? 0 : rows - 1);
  const double step = std::max(1.0, tick_step(span, 8));
  for (double at = 0; at <= span * (1 + 1e-9); at += step)
    fmt::format_to(
        to,
        "<path class=\"grid\" d=\"M{0:.1f} {1:.0f}V{2:.1f}\"/><text class=\"tick\" text-anchor=\"middle\" "
        "x=\"{0:.1f}\" y=\"{3:.1f}\">{4:.0f}</text>\n",
        x_of(at), top, bottom, bottom + 16, at);
  fmt::format_to(to, "<text class=\"axis\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">row</text>\n",
                 (left + right) / 2, bottom + 34);
  for (std::size_t i = 0; i < n; ++i) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (double value : series.values[i]) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    const double base = top + row * static_cast<double>(i), upper = base + 0.1 * row,
                 lower = base + 0.9 * row;
    const std::string name = markup::escape(series.names[i]);
    fmt::format_to(to,
                   "<g role=\"img\" aria-label=\"{}\" data-name=\"{}\" data-low=\"{}\" data-high=\"{}\" "
                   "data-upper=\"{:.2f}\" data-lower=\"{:.2f}\">",
                   name, name, markup::exact(low), markup::exact(high), upper, lower);
    fmt::format_to(to, "<path class=\"rule\" d=\"M0 {0:.1f}H1080\"/><text x=\"0\" y=\"{1:.1f}\">{2}</text>",
                   base + row, base + row / 2 + 0.36 * font,
                   markup::escape(markup::shorten(series.names[i], kLongestSeriesName)));
    if (low > high) {
      fmt::format_to(to, "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\">no finite value</text></g>\n",
                     left + 8, base + row / 2 + 4);
      continue;
    }
    if (row >= 50)
      fmt::format_to(to,
                     "<text class=\"tick\" x=\"1018\" y=\"{:.1f}\">{}</text><text class=\"tick\" x=\"1018\" "
                     "y=\"{:.1f}\">{}</text>",
                     upper + 8, markup::number(high), lower + 1, markup::number(low));
    else
      fmt::format_to(to, "<text class=\"tick\" x=\"1016\" y=\"{:.1f}\">\u2191 {}</text>", base + row / 2 + 4,
                     markup::number(high, 2));
    const auto y_of = [&](double value) {
      return high > low ? lower - (lower - upper) * ((value - low) / (high - low)) : 0.5 * (upper + lower);
    };
    out += "<path class=\"line\" d=\"";
    const auto drawn = drawn_points(series.values[i], most);
    for (std::size_t j = 0; j < drawn.size(); ++j) {
      if (!std::isfinite(drawn[j].value)) continue;
      const bool starts = j == 0 || !std::isfinite(drawn[j - 1].value);
      const bool alone = starts && (j + 1 == drawn.size() || !std::isfinite(drawn[j + 1].value));
      fmt::format_to(to, "{}{:.{}f} {:.{}f}{}", starts ? "M" : "L", x_of(drawn[j].at), decimals,
                     y_of(drawn[j].value), decimals + (decimals > 0), alone ? "h.1" : "");
    }
    out += "\"/></g>\n";
  }
  return out + "<path class=\"cursor\" d=\"M0 0\"/></svg>\n";
}

}  // namespace kolmo::figures
