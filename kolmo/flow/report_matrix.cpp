#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kolmo/flow/markup.hpp"
#include "kolmo/flow/report_figures.hpp"

namespace kolmo::figures {
namespace {

struct Colour {
  int r, g, b;
};

// Lightness falls (light page) or rises (dark page) steadily from nothing to the largest value, so the order
// survives colour blindness and greyscale print; hues run over green and blue, never red against green.
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
  if (largest > 0) {
    fmt::format_to(to, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>", x + width / 2,
                   y + 25, markup::number(largest / 2));
    fmt::format_to(to, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{} {}</text>", x + width, y + 25,
                   markup::number(largest), markup::escape(units));
  }
  out += "</g>\n";
}

}  // namespace

std::string palette_css() {
  std::string out = ":root{" + declarations(kLight) +
                    "}\n@media screen and (prefers-color-scheme:dark){:root{" + declarations(kDark) + "}}\n";
  for (int i = 0; i < kColours; ++i)
    fmt::format_to(std::back_inserter(out), ".q{0}{{fill:var(--q{0})}}.s{0}{{stroke:var(--q{0})}}", i);
  return out + "\n";
}

int colour_of(double value, double largest) {
  if (!(value > 0) || !(largest > 0)) return 0;
  return std::min(kColours - 1, static_cast<int>(std::lround((kColours - 1) * value / largest)));
}

std::string heat_map(const NetworkDocument& network) {
  const std::size_t n = network.variables.size();
  const bool large = n > 16;
  const double cell = n <= 4 ? 72 : n <= 8 ? 54 : n <= 16 ? 44 : n <= 30 ? 22 : 16;
  const double font = n <= 16 ? 13 : n <= 30 ? 12 : 11;
  const std::size_t limit = 16;
  std::size_t longest = 3;
  for (const std::string& name : network.variables)
    longest = std::max(longest, std::min(markup::code_points(name), limit + 1));
  const double text = 0.62 * font * static_cast<double>(longest);
  // Column names stand upright where cells are narrow and lean where there is room.
  const double left = text + 34, top = (large ? text : 0.72 * text + 6) + 30;
  const double right = large ? 10 : std::max(10.0, 0.72 * text - 0.5 * cell + 8);
  const double side = cell * static_cast<double>(n);
  const double scale = std::clamp(side, 170.0, 320.0);
  const double width = left + std::max(side + right, scale + 10), height = top + side + 52;
  double largest = 0;
  for (const NetworkLink& link : network.links)
    if (link.source != link.target && link.value > largest) largest = link.value;
  const int decimals =
      largest > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(largest))), 2, 4) : 2;

  std::string out;
  auto to = std::back_inserter(out);
  fmt::format_to(
      to,
      "<svg class=\"matrix\" viewBox=\"0 0 {:.0f} {:.0f}\" style=\"min-width:{:.0f}px;max-width:{:.0f}px;"
      "font-size:{}px\" role=\"img\" aria-label=\"Transfer entropy of every ordered pair; rows are "
      "sources, columns are targets; the same numbers are in the table of all pairs\">\n",
      width, height, n > 8 ? 0.72 * width : 0, 1.15 * width, font);
  fmt::format_to(
      to,
      "<text class=\"axis\" text-anchor=\"middle\" transform=\"translate(14 {:.1f}) rotate(-90)\">source"
      "</text><text class=\"axis\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"14\">target</text>\n",
      top + side / 2, left + side / 2);
  for (std::size_t i = 0; i < n; ++i) {
    const double at = cell * (static_cast<double>(i) + 0.5);
    const std::string name = markup::escape(markup::shorten(network.variables[i], limit));
    fmt::format_to(to, "<text data-row=\"{}\" text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", i,
                   left - 7, top + at + 0.35 * font, name);
    fmt::format_to(to,
                   "<text data-column=\"{}\" transform=\"translate({:.1f} {:.1f}) rotate({})\">{}</text>\n",
                   i, left + at + (large ? 0.35 * font : 0), top - 7, large ? -90 : -45, name);
    fmt::format_to(to, "<path class=\"self\" d=\"M{0:.1f} {1:.1f}l{2:.1f} {2:.1f}\"/>", left + at - cell / 2,
                   top + at - cell / 2, cell);
  }
  for (const NetworkLink& link : network.links) {
    if (link.source == link.target) continue;
    const double x = left + cell * static_cast<double>(link.target),
                 y = top + cell * static_cast<double>(link.source);
    const int colour = colour_of(link.value, largest);
    fmt::format_to(to, "<g class=\"cell {}{}\" data-link=\"{}-{}\"><title>",
                   colour * 2 >= kColours - 2 ? "high" : "low", link.significant ? " significant" : "",
                   link.source, link.target);
    out += link_title(network, link);
    fmt::format_to(
        to, "</title><rect class=\"q{0}\" x=\"{1:.1f}\" y=\"{2:.1f}\" width=\"{3:.1f}\" height=\"{3:.1f}\"/>",
        colour, x + 0.5, y + 0.5, cell - 1);
    if (!large)
      fmt::format_to(to, "<text text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + cell / 2,
                     y + cell / 2 + 0.36 * font, markup::fixed(link.value, decimals));
    if (link.significant)
      fmt::format_to(to, "<circle class=\"mark\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>",
                     x + (large ? cell / 2 : cell - 8), y + (large ? cell / 2 : 8),
                     large ? 0.17 * cell : 3.2);
    out += "</g>\n";
  }
  draw_scale(out, left, top + side + 14, scale, largest, network.units);
  return out + "</svg>\n";
}

}  // namespace kolmo::figures
