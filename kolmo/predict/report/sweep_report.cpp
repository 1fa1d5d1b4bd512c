#include "kolmo/predict/report/sweep_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "kolmo/flow/result/markup.hpp"
#include "kolmo/predict/report/frame.hpp"

namespace kolmo::assets {
extern const std::string_view sweep_html;
}

namespace kolmo::predict {
namespace {

using markup::escape;
using markup::number;

std::string short_name(const SweepRun& run) { return std::filesystem::path(run.name).filename().string(); }

std::size_t known(const Sweep& s) {
  return std::size_t(
      std::count_if(s.runs.begin(), s.runs.end(), [](const SweepRun& r) { return r.why_not.empty(); }));
}
std::size_t stopping(const Sweep& s) {
  return std::size_t(
      std::count_if(s.runs.begin(), s.runs.end(), [&](const SweepRun& r) { return s.may_stop(r); }));
}

std::string headline(const Sweep& s) {
  const SweepRun& leader = s.runs[0];
  std::string out = fmt::format(
      "{} leads: at step {} its loss is forecast to be {} ({} to {}), and with a probability of {:.0f} % it "
      "is the lowest of {} "
      "runs. ",
      short_name(leader), s.step, number(leader.median), number(leader.low), number(leader.high),
      100 * leader.best, known(s));
  const std::size_t stop = stopping(s);
  out += stop == 0 ? "No run is so far behind that it may stop."
                   : fmt::format("{} may stop: {} below it with a probability of less than {:.0f} %.",
                                 stop == 1 ? "1 run" : std::to_string(stop) + " runs",
                                 stop == 1 ? "it ends" : "each ends", 100 * Sweep::stop_below);
  return escape(out);
}

/// A line for each run: the 90 % interval of its loss at the common step, and the median, on a logarithmic axis.
std::string figure(const Sweep& s) {
  constexpr double width = 1080, left = 330, right = 70, row = 26, top = 12, bottom = 40;
  const double height = top + bottom + row * double(known(s));
  double low = INFINITY, high = 0;
  for (const SweepRun& r : s.runs)
    if (r.why_not.empty()) low = std::min(low, r.low), high = std::max(high, r.high);
  low *= .995, high *= 1.005;
  const auto x = [&](double loss) {
    return left + std::log(loss / low) / std::log(high / low) * (width - left - right);
  };
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sweep\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"Forecast "
      "loss of each run\">\n",
      width, height);
  for (int i = 0; i <= 5; ++i) {
    const double loss = low * std::pow(high / low, i / 5.);
    out += fmt::format(
        "<path class=\"grid\" d=\"M{:.1f} {}V{}\"/><text class=\"tick\" x=\"{:.1f}\" y=\"{}\" "
        "text-anchor=\"middle\">{}</text>\n",
        x(loss), top, height - bottom, x(loss), height - bottom + 20, number(loss));
  }
  double y = top + row / 2;
  for (const SweepRun& r : s.runs) {
    if (!r.why_not.empty()) continue;
    out += fmt::format(
        "<g class=\"{}\"><title>{}</title><text class=\"name\" x=\"{}\" y=\"{}\" "
        "text-anchor=\"end\">{}</text>"
        "<path d=\"M{:.1f} {}H{:.1f}\"/><circle cx=\"{:.1f}\" cy=\"{}\" r=\"4.5\"/></g>\n",
        s.may_stop(r) ? "stop" : "run", escape(r.name), left - 12, y + 4,
        escape(markup::shorten(short_name(r), 44)), x(r.low), y, x(r.high), x(r.median), y);
    y += row;
  }
  return out + "</svg>\n";
}

std::string rows(const Sweep& s) {
  std::string out;
  for (const SweepRun& r : s.runs) {
    if (!r.why_not.empty()) continue;
    out += fmt::format(
        "<tr{}><td class=\"num\">{}</td><td class=\"num\">{}</td><td>{}</td><td class=\"num\">{}</td><td "
        "class=\"num\">{}</td><td "
        "class=\"num\">{}</td><td class=\"num\">{} to {}</td><td class=\"num\">{:.0f} "
        "%</td><td>{}</td></tr>\n",
        &r == &s.runs[0] ? " class=\"best\"" : "", r.rank, rank_interval(r), escape(short_name(r)),
        r.last_step, number(r.loss), number(r.median), number(r.low), number(r.high), 100 * r.best,
        s.may_stop(r) ? "may stop" : "");
  }
  return out;
}

std::string notes(const Sweep& s) {
  std::string out;
  for (const SweepRun& r : s.runs)
    if (!r.why_not.empty()) out += "<p>Not forecast: " + escape(r.why_not) + ".</p>";
  for (const std::string& note : s.notes) out += "<p>" + escape(note) + ".</p>";
  return out;
}

}  // namespace

std::string rank_interval(const SweepRun& run) {
  return run.rank_low == run.rank_high ? fmt::format("{}", run.rank_low)
                                       : fmt::format("{} to {}", run.rank_low, run.rank_high);
}

std::string sweep_report(const Sweep& s, const std::string& folder, const std::string& command) {
  return framed({.kind = "sweep",
                 .title = "Sweep " + escape(folder),
                 .headline = headline(s),
                 .tiles = "",
                 .command = escape(command)},
                assets::sweep_html,
                {{"figure", figure(s)},
                 {"step", std::to_string(s.step)},
                 {"rows", rows(s)},
                 {"stop", fmt::format("{:.0f}", 100 * Sweep::stop_below)},
                 {"notes", notes(s)}});
}

}  // namespace kolmo::predict
