#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kolmo/flow/report/figures.hpp"
#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/flow/result/markup.hpp"

namespace kolmo::figures {
namespace {

struct Colour {
  int r, g, b;
};

// Lightness falls (light page) or rises (dark page) monotonically with the value, so that readers with colour
// blindness, and greyscale print, keep the order. Hues run over green and blue; no scale opposes red to
// green.
constexpr Colour kLight[] = {{244, 245, 236}, {211, 234, 200}, {150, 212, 185}, {84, 178, 181},
                             {46, 138, 171},  {43, 97, 154},   {46, 58, 127},   {35, 24, 80}};
constexpr Colour kDark[] = {{31, 36, 48},   {42, 48, 92},   {47, 78, 148},   {38, 119, 166},
                            {41, 160, 168}, {91, 197, 154}, {175, 224, 138}, {245, 244, 186}};

template <std::size_t N>
std::string declarations(const Colour (&stops)[N]) {
  std::string out;
  for (int i = 0; i < kColours; ++i) {
    const double at = static_cast<double>(i) / (kColours - 1) * (N - 1);
    const auto low = std::min(static_cast<std::size_t>(at), N - 2);
    const double share = at - static_cast<double>(low);
    const auto mix = [&](int a, int b) { return static_cast<int>(std::lround(a + share * (b - a))); };
    fmt::format_to(std::back_inserter(out), "--q{}:#{:02x}{:02x}{:02x};", i,
                   mix(stops[low].r, stops[low + 1].r), mix(stops[low].g, stops[low + 1].g),
                   mix(stops[low].b, stops[low + 1].b));
  }
  return out;
}

void draw_scale(std::string& out, double x, double y, double width, double largest,
                const std::string& units) {
  auto to = std::back_inserter(out);
  const double step = width / kColours;
  out += "<g class=\"scale\" aria-hidden=\"true\">";
  for (int i = 0; i < kColours; ++i)
    fmt::format_to(to, "<rect class=\"q{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"10\"/>", i,
                   x + i * step, y, step + 0.4);
  fmt::format_to(to, "<text x=\"{:.1f}\" y=\"{:.1f}\">\u2264 0</text>", x, y + 25);
  fmt::format_to(to, "<text class=\"half\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                 x + width / 2, y + 25, largest > 0 ? markup::number(largest / 2) : "");
  fmt::format_to(to, "<text class=\"full\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{} {}</text>",
                 x + width, y + 25, largest > 0 ? markup::number(largest) : "",
                 largest > 0 ? markup::escape(units) : "");
  out += "</g>\n";
}

}  // namespace

std::string palette_css() {
  std::string out = ":root{" + declarations(kLight) +
                    "}\n@media screen and (prefers-color-scheme:dark){:root:not(.on-paper){" +
                    declarations(kDark) + "}}\n";
  for (int i = 0; i < kColours; ++i)
    fmt::format_to(std::back_inserter(out), ".q{0}{{fill:var(--q{0})}}.s{0}{{stroke:var(--q{0})}}", i);
  return out + "\n";
}

int colour_of(double value, double largest) {
  if (!(value > 0) || !(largest > 0)) return 0;
  return std::min(kColours - 1, static_cast<int>(std::lround((kColours - 1) * value / largest)));
}

namespace {

constexpr std::size_t kLongestName = 48;

/// Sizes of the matrix as text, in px.
struct Layout {
  double cell, font, left, top, side, width, height, scale;
  bool narrow;  // cells too small for a number, with vertical column names

  explicit Layout(const NetworkDocument& network) {
    const std::size_t n = network.variables.size();
    narrow = n > 16;
    cell = n <= 4 ? 72 : n <= 8 ? 54 : n <= 16 ? 44 : n <= 30 ? 22 : 16;
    font = n <= 16 ? 13 : n <= 30 ? 12 : 11;
    std::size_t longest = 3;
    for (const std::string& name : network.variables)
      longest = std::max(longest, std::min(markup::code_points(name), kLongestName + 1));
    const double text = 0.62 * font * static_cast<double>(longest);
    const double band = network.groups.names.empty() ? 0 : 8;
    left = text + 34 + band, top = (narrow ? text : 0.72 * text + 6) + 30 + band;
    const double right = narrow ? 10 : std::max(10.0, 0.72 * text - 0.5 * cell + 8);
    side = cell * static_cast<double>(n);
    scale = std::clamp(side, 170.0, 320.0);
    width = left + std::max(side + right, scale + 10), height = top + side + 52;
  }
};

void draw_names(std::string& out, const NetworkDocument& network, const Layout& at) {
  auto to = std::back_inserter(out);
  const bool grouped = !network.groups.names.empty();
  const double band = grouped ? 8 : 0;
  for (std::size_t i = 0; i < network.variables.size(); ++i) {
    const double middle = at.cell * (static_cast<double>(i) + 0.5), first = middle - at.cell / 2;
    const std::string name = markup::escape(markup::shorten(network.variables[i], kLongestName));
    fmt::format_to(to, "<text data-row=\"{}\" text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", i,
                   at.left - 7 - band, at.top + middle + 0.35 * at.font, name);
    fmt::format_to(
        to, "<text data-column=\"{}\" transform=\"translate({:.1f} {:.1f}) rotate({})\">{}</text>\n", i,
        at.left + middle + (at.narrow ? 0.35 * at.font : 0), at.top - 7 - band, at.narrow ? -90 : -45, name);
    fmt::format_to(to, "<path class=\"self\" d=\"M{0:.1f} {1:.1f}l{2:.1f} {2:.1f}\"/>", at.left + first,
                   at.top + first, at.cell);
    if (!grouped) continue;
    const std::size_t group = network.groups.group_of[i];
    const std::string title = markup::escape(network.groups.names[group]);
    fmt::format_to(
        to,
        "<rect class=\"g{0}\" x=\"{1:.1f}\" y=\"{2:.1f}\" width=\"5\" height=\"{3:.1f}\"><title>{4}"
        "</title></rect><rect class=\"g{0}\" x=\"{5:.1f}\" y=\"{6:.1f}\" width=\"{3:.1f}\" "
        "height=\"5\"><title>{4}</title></rect>",
        group % kGroupColours, at.left - 8, at.top + first, at.cell, title, at.left + first, at.top - 8);
  }
}

void draw_separators(std::string& out, const NetworkDocument& network, const Layout& at) {
  const auto& group_of = network.groups.group_of;
  for (std::size_t i = 1; i < group_of.size(); ++i)
    if (group_of[i] != group_of[i - 1])
      fmt::format_to(std::back_inserter(out),
                     "<path class=\"separator\" d=\"M{0:.1f} {1:.1f}H{2:.1f}M{3:.1f} {4:.1f}V{5:.1f}\"/>",
                     at.left - 8, at.top + at.cell * static_cast<double>(i), at.left + at.side,
                     at.left + at.cell * static_cast<double>(i), at.top - 8, at.top + at.side);
}

void draw_cell(std::string& out, const NetworkDocument& network, const NetworkLink& link, const Layout& at,
               double largest, int decimals) {
  auto to = std::back_inserter(out);
  const double x = at.left + at.cell * static_cast<double>(link.target),
               y = at.top + at.cell * static_cast<double>(link.source);
  const int colour = colour_of(strength(link), largest);
  fmt::format_to(to, "<g class=\"cell {}{}\" data-link=\"{}-{}\"><title>",
                 colour * 2 >= kColours - 2 ? "high" : "low", link.significant ? " significant" : "",
                 link.source, link.target);
  out += link_title(network, link);
  fmt::format_to(
      to, "</title><rect class=\"q{0}\" x=\"{1:.1f}\" y=\"{2:.1f}\" width=\"{3:.1f}\" height=\"{3:.1f}\"/>",
      colour, x + 0.5, y + 0.5, at.cell - 1);
  if (!at.narrow)
    fmt::format_to(to, "<text text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + at.cell / 2,
                   y + at.cell / 2 + 0.36 * at.font, markup::fixed(strength(link), decimals));
  if (link.significant)
    fmt::format_to(to, "<circle class=\"mark\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>",
                   x + (at.narrow ? at.cell / 2 : at.cell - 8), y + (at.narrow ? at.cell / 2 : 8),
                   at.narrow ? 0.17 * at.cell : 3.2);
  out += "</g>\n";
}

}  // namespace

std::string heat_map(const NetworkDocument& network) {
  const Layout at(network);
  double largest = 0;
  for (const NetworkLink& link : network.links)
    if (link.source != link.target && strength(link) > largest) largest = strength(link);
  const int decimals =
      largest > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(largest))), 2, 4) : 2;

  std::string out;
  auto to = std::back_inserter(out);
  fmt::format_to(
      to,
      "<svg class=\"matrix{}\" viewBox=\"0 0 {:.0f} {:.0f}\" style=\"min-width:{:.0f}px;max-width:{:.0f}px;"
      "font-size:{}px\" role=\"img\" aria-label=\"Transfer entropy of every ordered pair; rows are "
      "sources, columns are targets; the same numbers are in the table of all pairs\">\n",
      network.tested() ? " tested" : "", at.width, at.height, 0.72 * at.width, 1.15 * at.width, at.font);
  fmt::format_to(
      to,
      "<text class=\"axis\" text-anchor=\"middle\" transform=\"translate(14 {:.1f}) rotate(-90)\">source"
      "</text><text class=\"axis\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"14\">target</text>\n",
      at.top + at.side / 2, at.left + at.side / 2);
  draw_names(out, network, at);
  for (const NetworkLink& link : network.links)
    if (link.source != link.target) draw_cell(out, network, link, at, largest, decimals);
  draw_separators(out, network, at);
  draw_scale(out, at.left, at.top + at.side + 14, at.scale, largest, network.units);
  return out + "</svg>\n";
}

std::string canvas_matrix(const NetworkDocument& network) {
  std::string out = fmt::format(
      "<canvas class=\"matrix-canvas\" tabindex=\"0\" role=\"img\" aria-label=\"Transfer entropy of every "
      "ordered pair of {} variables; rows are sources, columns are targets; the pairs are listed "
      "below\"></canvas>\n",
      network.variables.size());
  const double width = 340;
  out += fmt::format(
      "<svg class=\"matrix\" viewBox=\"0 0 {0} 34\" style=\"max-width:{0}px;font-size:12px\" "
      "role=\"img\" aria-label=\"Colour scale\">",
      width);
  double largest = 0;
  for (const NetworkLink& link : network.links) largest = std::max(largest, link.value);
  draw_scale(out, 4, 4, width - 8, largest, network.units);
  return out + "</svg>\n";
}

}  // namespace kolmo::figures
