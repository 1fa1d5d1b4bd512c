#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kolmo/flow/result/markup.hpp"
#include "kolmo/predict/analysis/forecast.hpp"

namespace kolmo::predict {
namespace {

constexpr double width = 840, height = 420, left = 70, right = 20, top = 40, bottom = 50;

/// From steps and losses to places in the figure.
struct Axes {
  double first, last, low, high;
  double x(double step) const { return left + (step - first) / (last - first) * (width - left - right); }
  double y(double loss) const {
    return top +
           (std::log(high) - std::log(loss)) / (std::log(high) - std::log(low)) * (height - top - bottom);
  }
  std::string point(double step, double loss) const {
    return fmt::format("{:.1f},{:.1f} ", x(step), y(loss));
  }
};

std::string label(double x, double y, std::string_view anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     markup::escape(text));
}

/// The area between two quantiles.
std::string band(const Axes& axes, const ForecastResult& r, std::size_t low, std::size_t high,
                 double opacity) {
  std::string points;
  const auto n = r.forecast.step.size();
  for (std::size_t i = 0; i < n; ++i)
    points += axes.point(double(r.forecast.step[i]), r.forecast.quantiles[i][high]);
  for (std::size_t i = n; i-- > 0;)
    points += axes.point(double(r.forecast.step[i]), r.forecast.quantiles[i][low]);
  return fmt::format("<polygon points=\"{}\" fill=\"#1f77b4\" fill-opacity=\"{}\"/>\n", points, opacity);
}

}  // namespace

std::string forecast_svg(const TrainingLog& log, const ForecastResult& r) {
  const auto& loss = log.blocks().loss;
  const std::size_t first = loss.size() / 20,
                    every = std::max<std::size_t>(1, loss.size() / 1000);  // the first losses are far above
  const auto step = [&](std::size_t i) {
    return double(log.blocks().end - std::int64_t(loss.size() - 1 - i) * log.length());
  };
  Axes axes{step(first), double(r.forecast.step.back()), INFINITY, 0};
  const auto include = [&](double v) {
    axes.low = std::min(axes.low, v), axes.high = std::max(axes.high, v);
  };
  for (std::size_t i = first; i < loss.size(); ++i) include(loss[i]);
  for (const Quantiles& q : r.forecast.quantiles) include(q.front()), include(q.back());
  if (r.time) include(r.time->target);
  axes.low *= .98, axes.high *= 1.02;

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height);
  svg += label(left, 22, "start", r.file + ", plan " + r.plan + ", forecast by " + r.forecast.driver);
  for (int i = 0; i <= 4; ++i) {
    const double value = axes.low * std::pow(axes.high / axes.low, i / 4.),
                 at = axes.first + (axes.last - axes.first) * i / 4;
    svg += fmt::format("<path d=\"M{} {:.1f}H{}\" stroke=\"#ddd\"/>\n", left, axes.y(value), width - right);
    svg += label(left - 6, axes.y(value) + 4, "end", markup::number(value));
    svg += label(axes.x(at), height - bottom + 18, "middle", std::to_string(std::llround(at)));
  }
  svg += label((left + width - right) / 2, height - 12, "middle", "step");
  svg += label(12, top - 10, "start", "loss");
  svg += band(axes, r, 0, quantile_count - 1, .2) + band(axes, r, 4, 14, .3);
  std::string seen, to_come;
  for (std::size_t i = first; i < loss.size(); i += every) seen += axes.point(step(i), loss[i]);
  for (std::size_t i = 0; i < r.forecast.step.size(); ++i)
    to_come += axes.point(double(r.forecast.step[i]), r.forecast.median[i]);
  svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"#333\" stroke-width=\"1\"/>\n", seen);
  svg +=
      fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"#1f77b4\" stroke-width=\"2\"/>\n", to_come);
  if (r.time) {
    svg += fmt::format("<path d=\"M{} {:.1f}H{}\" stroke=\"#d62728\" stroke-dasharray=\"6 4\"/>\n", left,
                       axes.y(r.time->target), width - right);
    svg +=
        label(width - right, axes.y(r.time->target) - 4, "end", "target " + markup::number(r.time->target));
  }
  return svg + "</svg>\n";
}

}  // namespace kolmo::predict
