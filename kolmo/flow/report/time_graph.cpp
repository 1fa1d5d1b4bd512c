#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kolmo/flow/report/data.hpp"
#include "kolmo/flow/report/figures.hpp"
#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/flow/result/markup.hpp"

namespace kolmo::figures {
namespace {

constexpr std::size_t most_arrows = 300, most_name = 24;
constexpr int most_columns = 40;
constexpr double node = 4.5, arrow = 9;

/// An arrow from a variable `lag` rows before to the next value of another, or of itself.
struct Arrow {
  std::size_t source, target;
  int lag;
  const NetworkLink* link;  // null: the target's own past
};

std::vector<Arrow> arrows_of(const NetworkDocument& network) {
  std::vector<Arrow> all;
  for (const NetworkTarget& t : network.targets)
    for (const ChosenValue& c : t.own_past) all.push_back({t.target, t.target, c.lag, nullptr});
  for (const NetworkLink* link : network.significant_links()) {
    if (link->lags.empty()) all.push_back({link->source, link->target, link->lag, link});
    for (const int lag : link->lags) all.push_back({link->source, link->target, lag, link});
  }
  return all;
}

class TimeGraph {
 public:
  TimeGraph(const NetworkDocument& network, std::vector<Arrow> arrows)
      : network_(network), arrows_(std::move(arrows)) {
    for (const Arrow& a : arrows_) oldest_ = std::max(oldest_, a.lag);
    for (const Arrow& a : arrows_)
      if (a.link) largest_ = std::max(largest_, strength(*a.link));
    std::size_t name = 3;
    for (const std::string& v : network.variables)
      name = std::max(name, std::min(markup::code_points(v), most_name + 1));
    left_ = 26 + 8.4 * double(name);
    column_ = std::min(150.0, 760.0 / double(oldest_));
    row_ = network.variables.size() <= 8 ? 52 : network.variables.size() <= 16 ? 38 : 26;
  }

  std::string svg() const {
    const double width = x_of(0) + 40, height = y_of(network_.variables.size() - 1) + 20;
    std::string out = fmt::format(
        "<svg class=\"timegraph\" viewBox=\"0 0 {0:.0f} {1:.0f}\" style=\"min-width:{2:.0f}px;"
        "max-width:{0:.0f}px\" role=\"group\" aria-label=\"{3} arrows from past values to the next "
        "value\">\n",
        width, height, std::min(width, 440.0), arrows_.size());
    nodes(out);
    for (auto a = arrows_.rbegin(); a != arrows_.rend(); ++a) draw(out, *a);
    return out + "</svg>\n";
  }

 private:
  double x_of(int lag) const { return left_ + column_ * double(oldest_ - lag); }
  double y_of(std::size_t variable) const { return 46 + row_ * double(variable); }

  void nodes(std::string& out) const {
    auto to = std::back_inserter(out);
    const int step = column_ < 26 ? 5 : 1;
    for (int lag = oldest_; lag >= 0; --lag) {
      if (lag == 0 || lag % step == 0 || lag == oldest_)
        fmt::format_to(to, "<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"14\">{}</text>\n",
                       x_of(lag), lag ? fmt::format("\u2212{}", lag) : "next");
      for (std::size_t v = 0; v < network_.variables.size(); ++v)
        fmt::format_to(to, "<circle{} cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>\n", lag ? "" : " class=\"next\"",
                       x_of(lag), y_of(v), lag ? node : 1.6 * node);
    }
    for (std::size_t v = 0; v < network_.variables.size(); ++v)
      fmt::format_to(to, "<text text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left_ - 14,
                     y_of(v) + 4.5, markup::escape(markup::shorten(network_.variables[v], most_name)));
  }

  void draw(std::string& out, const Arrow& a) const {
    const double share = a.link && largest_ > 0 ? std::max(strength(*a.link), 0.0) / largest_ : 0;
    const double x0 = x_of(a.lag), y0 = y_of(a.source), x1 = x_of(0), y1 = y_of(a.target);
    // The curve bends upwards in a row, to the left in a column, and little else.
    const double bend = a.source == a.target ? 0.42 * row_ : 0;
    const double cx = 0.5 * (x0 + x1) - (a.lag ? 0 : 0.4 * column_), cy = 0.5 * (y0 + y1) - bend;
    const double along = std::hypot(x1 - cx, y1 - cy), ux = (x1 - cx) / along, uy = (y1 - cy) / along;
    const double tip = 1.6 * node + 2, width = a.link ? 1.2 + 3 * share : 1.2;
    const double hx = x1 - tip * ux, hy = y1 - tip * uy, bx = hx - arrow * ux, by = hy - arrow * uy;
    const std::string colour =
        a.link ? std::to_string(11 + int(std::lround((kColours - 12) * share))) : std::string("own");
    auto to = std::back_inserter(out);
    if (a.link)
      fmt::format_to(to, "<g class=\"flow\" data-link=\"{}-{}\" role=\"img\"><title>{}", a.source, a.target,
                     link_title(network_, *a.link));
    else
      fmt::format_to(to, "<g class=\"own\" role=\"img\"><title>{}: own past",
                     markup::escape(network_.variables[a.target]));
    fmt::format_to(to, "\nfrom {} row{} before</title>", a.lag, a.lag == 1 ? "" : "s");
    fmt::format_to(to,
                   "<path class=\"line s{}\" stroke-width=\"{:.2f}\" d=\"M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} "
                   "{:.1f}\"/>",
                   colour, width, x0, y0, cx, cy, bx, by);
    const double side = 0.42 * arrow;
    fmt::format_to(to, "<path class=\"q{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z\"/></g>\n",
                   colour, hx, hy, bx - side * uy, by + side * ux, bx + side * uy, by - side * ux);
  }

  const NetworkDocument& network_;
  std::vector<Arrow> arrows_;
  int oldest_ = 1;
  double largest_ = 0, left_ = 0, column_ = 0, row_ = 0;
};

}  // namespace

std::string time_graph(const NetworkDocument& network) {
  std::vector<Arrow> arrows = arrows_of(network);
  const bool far = std::any_of(arrows.begin(), arrows.end(),
                               [](const Arrow& a) { return a.lag > most_columns || a.lag < 0; });
  const bool none = network.only_storage() ? arrows.empty() : network.significant_links().empty();
  if (none || far || arrows.size() > most_arrows || network.variables.size() > kMostDrawnVariables) return "";
  return TimeGraph(network, std::move(arrows)).svg();
}

}  // namespace kolmo::figures
