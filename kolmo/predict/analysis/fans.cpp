#include "kolmo/predict/analysis/fans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kolmo/flow/result/markup.hpp"
#include "kolmo/flow/result/ticks.hpp"

namespace kolmo::predict {
namespace {

constexpr double width = 1080, height = 460, left = 62, right = 14, top = 14, bottom = 46;

/// From steps and losses, on a logarithmic axis, to places in the figure.
struct Axes {
  double first = 0, last = 1, low = INFINITY, high = 0;
  void include(double loss) { low = std::min(low, loss), high = std::max(high, loss); }
  double x(double step) const { return left + (step - first) / (last - first) * (width - left - right); }
  double y(double loss) const {
    return top + std::log(high / loss) / std::log(high / low) * (height - top - bottom);
  }
  std::string point(double step, double loss) const {
    return fmt::format("{:.1f},{:.1f} ", x(step), y(loss));
  }
};

std::string text(const char* kind, double x, double y, const char* anchor, const std::string& of) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", kind, x,
                     y, anchor, markup::escape(of));
}

std::string grid(const Axes& a) {
  std::string out;
  for (int i = 0; i <= 5; ++i) {
    const double loss = a.low * std::pow(a.high / a.low, i / 5.);
    out += fmt::format("<path class=\"grid\" d=\"M{} {:.1f}H{}\"/>\n", left, a.y(loss), width - right);
    out += text("tick", left - 8, a.y(loss) + 4, "end", markup::number(loss));
  }
  const double every = std::max(1.0, figures::tick_step(a.last - a.first, 8));
  for (double step = std::ceil(a.first / every) * every; step <= a.last; step += every)
    out += text("tick", std::min(a.x(step), width - 24), height - bottom + 20, "middle",
                std::to_string(std::llround(step)));
  return out + text("axis", (left + width - right) / 2, height - 6, "middle", "step");
}

std::string fan(const Axes& a, const Forecast& f, std::size_t number) {
  const auto band = [&](std::size_t low, std::size_t high, const char* kind) {
    std::string points;
    for (std::size_t i = 0; i < f.step.size(); ++i)
      points += a.point(double(f.step[i]), f.quantiles[i][high]);
    for (std::size_t i = f.step.size(); i-- > 0;) points += a.point(double(f.step[i]), f.quantiles[i][low]);
    return fmt::format("<polygon class=\"{}\" points=\"{}\"/>\n", kind, points);
  };
  std::string median;
  for (std::size_t i = 0; i < f.step.size(); ++i) median += a.point(double(f.step[i]), f.median[i]);
  return fmt::format("<g class=\"fan g{}\">{}{}<polyline points=\"{}\"/></g>\n", number,
                     band(0, quantile_count - 1, "outer"), band(4, 14, "inner"), median);
}

}  // namespace

std::string fans(const TrainingLog& log, const std::vector<const ForecastResult*>& plans,
                 const std::string& drawn_first) {
  const std::optional<TimeTo>& time = plans[0]->time;
  const std::vector<double>& loss = log.blocks().loss;
  const std::size_t first = loss.size() / 20;  // the first losses are far above the others
  const std::size_t every = std::max<std::size_t>(1, loss.size() / 1000);
  const auto step = [&](std::size_t i) {
    return double(log.blocks().end - std::int64_t(loss.size() - 1 - i) * log.length());
  };
  Axes a;
  a.first = a.last = step(first);
  for (std::size_t i = first; i < loss.size(); ++i) a.include(loss[i]);
  for (const ForecastResult* r : plans) {
    a.last = std::max(a.last, double(r->forecast.step.back()));
    for (const Quantiles& q : r->forecast.quantiles) a.include(q.front()), a.include(q.back());
  }
  if (time) a.include(time->target);
  a.low *= .99, a.high *= 1.01;

  std::string seen;
  for (std::size_t i = first; i < loss.size(); i += every) seen += a.point(step(i), loss[i]);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fans\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"Loss by step, and its "
      "forecasts\">\n{}{}",
      width, height, drawn_first, grid(a));
  for (std::size_t i = plans.size(); i-- > 0;) out += fan(a, plans[i]->forecast, i);  // the first is on top
  out += fmt::format("<polyline class=\"seen\" points=\"{}\"/>\n", seen);
  if (time) {
    const double y = a.y(time->target);
    out += fmt::format("<path class=\"target\" d=\"M{} {:.1f}H{}\"/>\n", left, y, width - right);
    out += text("tick", width - right, y - 5, "end", "target " + markup::number(time->target));
  }
  return out + "</svg>\n";
}

}  // namespace kolmo::predict
