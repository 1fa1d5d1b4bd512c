#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>

#include "kolmo/flow/report/data.hpp"
#include "kolmo/flow/report/figures.hpp"
#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/flow/result/markup.hpp"

namespace kolmo::figures {
namespace {

using Links = std::vector<const NetworkLink*>;

struct Point {
  double x = 0, y = 0;
  friend Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
  friend Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
  friend Point operator*(double s, Point a) { return {s * a.x, s * a.y}; }
};
double length(Point a) { return std::hypot(a.x, a.y); }

struct Curve {  // a quadratic Bezier curve
  Point a, b, c;
  Point at(double t) const { return (1 - t) * (1 - t) * a + 2 * t * (1 - t) * b + t * t * c; }
  Point tangent(double t) const { return 2 * (1 - t) * (b - a) + 2 * t * (c - b); }
  // The part of the curve from parameter s to t.
  Curve part(double s, double t) const {
    const Point from = at(s), to = at(t);
    return {from, from + 0.5 * (t - s) * tangent(s), to};
  }
};

// The positions 0 to n - 1 of the variables on the circle. Starting from the given order, two variables of a
// group are swapped as long as that reduces the sum over links of strength times distance along the circle.
// The result is a local minimum and does not depend on chance.
std::vector<std::size_t> places_on_circle(const NetworkDocument& network, const Links& links) {
  const std::size_t n = network.variables.size();
  std::vector<std::size_t> place(n);
  std::iota(place.begin(), place.end(), 0);
  if (n < 4) return place;
  std::vector<std::vector<std::pair<std::size_t, double>>> next_to(n);
  for (const NetworkLink* link : links) {
    if (link->source == link->target || !(strength(*link) > 0)) continue;
    next_to[link->source].push_back({link->target, strength(*link)});
    next_to[link->target].push_back({link->source, strength(*link)});
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
  const auto& group_of = network.groups.group_of;
  const int passes = n <= kMostDrawnVariables ? 50 : 4;
  bool improved = true;
  for (int pass = 0; improved && pass < passes; ++pass) {
    improved = false;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) {
        if (!group_of.empty() && group_of[i] != group_of[j]) continue;
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
  std::size_t label;  // characters of a name
};

Sizes sizes_for(std::size_t n) {
  if (n <= 6) return {165, 15, 15, 5, 12, 48};
  if (n <= 16) return {205, 11, 13.5, 4.2, 10, 48};
  if (n <= 30) return {270, 8, 12.5, 3.2, 8.5, 40};
  if (n <= kMostDrawnVariables) return {345, 6.5, 12.5, 2.6, 7.5, 40};
  const double radius = std::max(345.0, 11 * static_cast<double>(n) / (2 * std::numbers::pi));
  return {radius, 3.5, 9, 2, 6, 30};
}

void draw_link(std::string& out, const NetworkDocument& network, const NetworkLink& link, const Sizes& size,
               const std::vector<Point>& at, double largest, double opacity, bool with_lag) {
  const Point from = at[link.source], to = at[link.target];
  const Point chord = to - from;
  const Point middle = 0.5 * (from + to);
  const Point aside{-chord.y, chord.x};
  const double inward = std::min(0.32, 0.45 * length(chord) / std::max(length(middle), 1.0));
  const Curve whole{from, middle - inward * middle + 0.13 * aside, to};
  const double share = largest > 0 ? std::max(strength(link), 0.0) / largest : 0;
  const double width = 1 + (size.width - 1) * share;
  const double arrow = size.arrow * (0.65 + 0.35 * share);

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

  const int colour = 11 + static_cast<int>(std::lround((kColours - 12) * share));
  auto to_out = std::back_inserter(out);
  fmt::format_to(to_out, "<g class=\"link\" data-link=\"{}-{}\" opacity=\"{:.2f}\"{} role=\"img\"><title>",
                 link.source, link.target, opacity + (1 - opacity) * share,
                 with_lag ? " tabindex=\"0\"" : "");
  out += link_title(network, link);
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
                   label.y + 4, link.lag);
  }
  out += "</g>\n";
}

void draw_node(std::string& out, const NetworkDocument& network, std::size_t node, const Sizes& size,
               Point at, const std::array<double, 2>& sent_received, const std::array<int, 2>& counts) {
  const auto [sent, received] = sent_received;
  const auto& groups = network.groups;
  const std::string kind = counts[0] + counts[1] == 0 ? "alone" : sent > received ? "sender" : "receiver";
  const std::string colour =
      groups.names.empty() ? "" : fmt::format(" g{}", groups.group_of[node] % kGroupColours);
  const std::string& name = network.variables[node];
  auto to_out = std::back_inserter(out);
  fmt::format_to(to_out, "<g class=\"node {}{}\" data-node=\"{}\" tabindex=\"0\" role=\"img\"><title>{}\n",
                 kind, colour, node, markup::escape(name));
  if (!groups.names.empty()) out += markup::escape(groups.names[groups.group_of[node]]) + "\n";
  fmt::format_to(to_out, "sends {} {} on {} link{}\nreceives {} {} on {} link{}</title>",
                 markup::number(sent), markup::escape(network.units), counts[0], counts[0] == 1 ? "" : "s",
                 markup::number(received), markup::escape(network.units), counts[1],
                 counts[1] == 1 ? "" : "s");
  fmt::format_to(to_out, "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>", at.x, at.y, size.node);
  const std::string label = markup::escape(markup::shorten(name, size.label));
  const double angle = std::atan2(at.y, at.x), away = size.node + 7;
  if (length(at) < 1) {
    fmt::format_to(to_out, "<text text-anchor=\"middle\" y=\"{:.1f}\">{}</text>", at.y + size.node + 20,
                   label);
  } else if (network.variables.size() > 16) {  // names stand along the radius, none upside down
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

std::size_t shown_links(const NetworkDocument& network) {
  // More links than this cannot be told apart.
  const std::size_t most = network.variables.size() <= kMostDrawnVariables ? 1000 : 600;
  return std::min(network.significant_links().size(), most);
}

std::size_t shown_lags(const NetworkDocument& network) {
  const std::size_t n = network.variables.size();
  return n <= 30 ? std::min(network.significant_links().size(), 3 * n + 10) : 0;
}

std::string network_graph(const NetworkDocument& network) {
  const std::size_t n = network.variables.size();
  Links links = network.significant_links();
  const Totals totals(network);
  links.resize(shown_links(network));
  const Sizes size = sizes_for(n);
  const auto place = places_on_circle(network, links);
  std::vector<Point> at(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double first = n == 2 ? std::numbers::pi : -std::numbers::pi / 2;
    const double angle =
        first + 2 * std::numbers::pi * static_cast<double>(place[i]) / static_cast<double>(n);
    if (n > 1) at[i] = size.radius * Point{std::cos(angle), std::sin(angle)};
  }
  // The frame holds every name: beside its variable, or along the radius from 17 variables on.
  double half_width = size.node + 12, top = 0, bottom = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto characters = std::min(markup::code_points(network.variables[i]), size.label + 1);
    const double text = 0.64 * size.font * static_cast<double>(characters) + size.node + 12;
    const double share = length(at[i]) > 0 ? 1 / length(at[i]) : 0, line = size.node + 2.2 * size.font;
    const double across = n > 16 ? text * std::abs(at[i].x) * share + line : text;
    const double up = n > 16 ? text * std::abs(at[i].y) * share + line : n <= 2 ? 44 : line;
    half_width = std::max(half_width, std::abs(at[i].x) + across);
    top = std::min(top, at[i].y - up);
    bottom = std::max(bottom, at[i].y + up);
  }
  if (n == 2) top -= 36, bottom += 36;

  std::string out;
  auto to_out = std::back_inserter(out);
  fmt::format_to(
      to_out,
      "<svg class=\"graph\" viewBox=\"{:.0f} {:.0f} {:.0f} {:.0f}\" "
      "style=\"min-width:{:.0f}px;max-width:{:.0f}px;"
      "font-size:{}px\" role=\"group\" aria-label=\"Network of {} variables with {} directed links\">\n",
      -half_width, top, 2 * half_width, bottom - top, std::min(1.44 * half_width, 1000.0), 2.1 * half_width,
      size.font, n, links.size());
  double largest = 0;
  for (const NetworkLink* link : links) largest = std::max(largest, strength(*link));
  const double opacity =
      std::clamp(3.0 * static_cast<double>(n) / static_cast<double>(links.size() + 1), 0.2, 0.95);
  out += "<g class=\"links\">\n";
  const std::size_t with_lags = shown_lags(network);
  for (std::size_t i = links.size(); i-- > 0;)
    if (links[i]->source != links[i]->target)
      draw_link(out, network, *links[i], size, at, largest, opacity, i < with_lags);
  out += "</g>\n";
  for (std::size_t i = 0; i < n; ++i)
    draw_node(out, network, i, size, at[i], totals.flow[i], totals.links[i]);
  return out + "</svg>\n";
}

}  // namespace kolmo::figures
