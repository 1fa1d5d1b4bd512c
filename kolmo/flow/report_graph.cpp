#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>

#include "kolmo/flow/markup.hpp"
#include "kolmo/flow/report_figures.hpp"

namespace kolmo::figures {
namespace {

using Edges = std::vector<const NetworkLink*>;

struct Point {
  double x = 0, y = 0;
  friend Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
  friend Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
  friend Point operator*(double s, Point a) { return {s * a.x, s * a.y}; }
};
double length(Point a) { return std::hypot(a.x, a.y); }

struct Curve {  // quadratic Bezier
  Point a, b, c;
  Point at(double t) const { return (1 - t) * (1 - t) * a + 2 * t * (1 - t) * b + t * t * c; }
  Point tangent(double t) const { return 2 * (1 - t) * (b - a) + 2 * t * (c - b); }
  // The part from parameter s to t.
  Curve part(double s, double t) const {
    const Point from = at(s), to = at(t);
    return {from, from + 0.5 * (t - s) * tangent(s), to};
  }
};

// Places 0..n-1 on the circle for the variables. Starting from the given order, two variables swap places
// while that shortens the sum over edges of value times distance along the circle: deterministic, ends in a
// local minimum.
std::vector<std::size_t> places_on_circle(std::size_t n, const Edges& edges) {
  std::vector<std::size_t> place(n);
  std::iota(place.begin(), place.end(), 0);
  if (n < 4) return place;
  std::vector<std::vector<std::pair<std::size_t, double>>> next_to(n);
  for (const NetworkLink* edge : edges) {
    if (edge->source == edge->target || !(edge->value > 0)) continue;
    next_to[edge->source].push_back({edge->target, edge->value});
    next_to[edge->target].push_back({edge->source, edge->value});
  }
  const auto cost = [&](std::size_t node) {
    double sum = 0;
    for (const auto& [other, weight] : next_to[node]) {
      const std::size_t gap =
          place[node] > place[other] ? place[node] - place[other] : place[other] - place[node];
      sum += weight * static_cast<double>(std::min(gap, n - gap));
    }
    return sum;
  };
  bool improved = true;
  for (int pass = 0; improved && pass < 50; ++pass) {
    improved = false;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) {
        const double before = cost(i) + cost(j);
        std::swap(place[i], place[j]);
        if (cost(i) + cost(j) < before * (1 - 1e-9))
          improved = true;
        else
          std::swap(place[i], place[j]);
      }
  }
  return place;
}

struct Sizes {
  double radius, node, font, width, arrow;
  std::size_t label;  // characters
};

Sizes sizes_for(std::size_t n) {
  if (n <= 6) return {165, 15, 15, 5, 12, 18};
  if (n <= 16) return {205, 11, 13.5, 4.2, 10, 16};
  if (n <= 30) return {270, 8, 12.5, 3.2, 8.5, 14};
  return {345, 6.5, 12.5, 2.6, 7.5, 14};
}

void draw_edge(std::string& out, const NetworkDocument& network, const NetworkLink& edge, const Sizes& size,
               const std::vector<Point>& at, double largest, double opacity, bool with_lag) {
  const Point from = at[edge.source], to = at[edge.target];
  const Point chord = to - from;
  const Point middle = 0.5 * (from + to);
  const Point aside{-chord.y, chord.x};
  const double inward = std::min(0.32, 0.45 * length(chord) / std::max(length(middle), 1.0));
  const Curve whole{from, middle - inward * middle + 0.13 * aside, to};
  const double strength = largest > 0 && edge.value > 0 ? edge.value / largest : 0;
  const double width = 1 + (size.width - 1) * strength;
  const double arrow = size.arrow * (0.65 + 0.35 * strength);

  const auto distance_from = [&](Point p, double wanted, double inside, double outside) {
    for (int i = 0; i < 40; ++i) {
      const double half = 0.5 * (inside + outside);
      (length(whole.at(half) - p) < wanted ? inside : outside) = half;
    }
    return outside;
  };
  const double start = distance_from(from, size.node + 2, 0, 0.5);
  const double tip = distance_from(to, size.node + 2, 1, 0.5);
  const double base = distance_from(to, size.node + 2 + 0.9 * arrow, 1, 0.5);
  const Curve line = whole.part(start, base);
  const Point head = whole.at(tip), neck = whole.at(base);
  const Point along = (1 / length(head - neck)) * (head - neck);
  const Point across = 0.5 * arrow * Point{-along.y, along.x};
  const Point tail = head - arrow * along;

  const int colour = 11 + static_cast<int>(std::lround((kColours - 12) * strength));
  auto to_out = std::back_inserter(out);
  fmt::format_to(to_out, "<g class=\"edge\" data-link=\"{}-{}\" opacity=\"{:.2f}\"{} role=\"img\"><title>",
                 edge.source, edge.target, opacity + (1 - opacity) * strength,
                 with_lag ? " tabindex=\"0\"" : "");
  out += link_title(network, edge);
  fmt::format_to(to_out,
                 "</title><path class=\"reach\" d=\"M{0:.1f} {1:.1f}Q{2:.1f} {3:.1f} {4:.1f} {5:.1f}\"/>"
                 "<path class=\"line s{6}\" stroke-width=\"{7:.2f}\" d=\"M{0:.1f} {1:.1f}Q{2:.1f} {3:.1f} "
                 "{4:.1f} {5:.1f}\"/>",
                 line.a.x, line.a.y, line.b.x, line.b.y, line.c.x, line.c.y, colour, width);
  fmt::format_to(to_out, "<path class=\"q{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z\"/>", colour,
                 head.x, head.y, (tail + across).x, (tail + across).y, (tail - across).x, (tail - across).y);
  if (with_lag) {
    const Point label = whole.at(0.5);
    fmt::format_to(to_out, "<text class=\"halo lag\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", label.x,
                   label.y + 4, edge.lag);
  }
  out += "</g>\n";
}

void draw_node(std::string& out, const NetworkDocument& network, std::size_t node, const Sizes& size,
               Point at, const std::array<double, 2>& sent_received, const std::array<int, 2>& counts) {
  const auto [sent, received] = sent_received;
  const char* kind = counts[0] + counts[1] == 0 ? "alone" : sent > received ? "sender" : "receiver";
  const std::string& name = network.variables[node];
  auto to_out = std::back_inserter(out);
  fmt::format_to(to_out, "<g class=\"node {}\" data-node=\"{}\" tabindex=\"0\" role=\"img\"><title>{}\n",
                 kind, node, markup::escape(name));
  fmt::format_to(to_out, "sends {} {} on {} edge{}\nreceives {} {} on {} edge{}</title>",
                 markup::number(sent), markup::escape(network.units), counts[0], counts[0] == 1 ? "" : "s",
                 markup::number(received), markup::escape(network.units), counts[1],
                 counts[1] == 1 ? "" : "s");
  fmt::format_to(to_out, "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>", at.x, at.y, size.node);
  const std::string label = markup::escape(markup::shorten(name, size.label));
  const double angle = std::atan2(at.y, at.x), away = size.node + 7;
  if (length(at) < 1) {
    fmt::format_to(to_out, "<text text-anchor=\"middle\" y=\"{:.1f}\">{}</text>", at.y + size.node + 20,
                   label);
  } else if (network.variables.size() > 16) {  // along the radius, never upside down
    const bool left = std::abs(angle) > std::numbers::pi / 2 + 1e-9;
    const double degrees = angle * 180 / std::numbers::pi + (left ? 180 : 0);
    fmt::format_to(
        to_out,
        "<text text-anchor=\"{}\" transform=\"translate({:.1f} {:.1f}) rotate({:.2f})\" y=\"{:.1f}\">",
        left ? "end" : "start", at.x + away * std::cos(angle), at.y + away * std::sin(angle), degrees,
        0.34 * size.font);
    out += label + "</text>";
  } else {
    const double side = std::cos(angle);
    const char* anchor = side > 0.3 ? "start" : side < -0.3 ? "end" : "middle";
    const double drop = 0.34 * size.font + 0.45 * size.font * std::sin(angle);
    fmt::format_to(to_out, "<text text-anchor=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", anchor,
                   at.x + away * side, at.y + away * std::sin(angle) + drop, label);
  }
  out += "</g>\n";
}

}  // namespace

bool shows_lags(const NetworkDocument& network) {
  const std::size_t n = network.variables.size(), edges = network.edges().size();
  return edges > 0 && n <= 16 && edges <= 2 * n + 2;
}

std::string network_graph(const NetworkDocument& network) {
  const std::size_t n = network.variables.size();
  const Edges edges = network.edges();
  const Sizes size = sizes_for(n);
  const auto place = places_on_circle(n, edges);
  std::vector<Point> at(n);
  std::size_t longest = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const double first = n == 2 ? std::numbers::pi : -std::numbers::pi / 2;
    const double angle =
        first + 2 * std::numbers::pi * static_cast<double>(place[i]) / static_cast<double>(n);
    if (n > 1) at[i] = size.radius * Point{std::cos(angle), std::sin(angle)};
    longest = std::max(longest, std::min(markup::code_points(network.variables[i]), size.label + 1));
  }
  std::vector<std::array<double, 2>> flow(n);
  std::vector<std::array<int, 2>> counts(n);
  for (const NetworkLink* edge : edges) {
    const double value = std::max(edge->value, 0.0);
    flow[edge->source][0] += value;
    flow[edge->target][1] += value;
    ++counts[edge->source][0];
    ++counts[edge->target][1];
  }
  const double label = 0.64 * size.font * static_cast<double>(longest) + size.node + 12;
  const double half_width = (n > 1 ? size.radius : 0) + label;
  const double above_below = n > 16 ? label : n == 1 ? 44 : size.node + 2.2 * size.font;
  double top = 0, bottom = 0;
  for (Point point : at) {
    top = std::min(top, point.y);
    bottom = std::max(bottom, point.y);
  }
  top -= n == 2 ? 80 : above_below;
  bottom += n == 2 ? 80 : above_below;

  std::string out;
  auto to_out = std::back_inserter(out);
  fmt::format_to(
      to_out,
      "<svg class=\"graph\" viewBox=\"{:.0f} {:.0f} {:.0f} {:.0f}\" "
      "style=\"min-width:{:.0f}px;max-width:{:.0f}px;"
      "font-size:{}px\" role=\"group\" aria-label=\"Network of {} variables with {} directed edges\">\n",
      -half_width, top, 2 * half_width, bottom - top, n > 16 ? 1.5 * half_width : 0, 2.1 * half_width,
      size.font, n, edges.size());
  const double largest = edges.empty() ? 0 : std::max(0.0, edges.front()->value);
  const double opacity =
      std::clamp(3.0 * static_cast<double>(n) / static_cast<double>(edges.size() + 1), 0.2, 0.95);
  out += "<g class=\"edges\">\n";
  const bool with_lag = shows_lags(network);
  for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge)
    if ((*edge)->source != (*edge)->target)
      draw_edge(out, network, **edge, size, at, largest, opacity, with_lag);
  out += "</g>\n";
  for (std::size_t i = 0; i < n; ++i) draw_node(out, network, i, size, at[i], flow[i], counts[i]);
  return out + "</svg>\n";
}

}  // namespace kolmo::figures
