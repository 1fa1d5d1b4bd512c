#include "kolmo/predict/report/training_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kolmo/flow/result/markup.hpp"
#include "kolmo/predict/analysis/fans.hpp"
#include "kolmo/predict/report/frame.hpp"

namespace kolmo::assets {
extern const std::string_view training_html;
}

namespace kolmo::predict {
namespace {

using markup::escape;
using markup::number;

std::string interval(const Forecast& f, const char* word = " to ") {
  return number(f.quantiles.back().front()) + word + number(f.quantiles.back().back());
}

std::string tile(const std::string& value, const std::string& label) {
  return "<div><dd>" + escape(value) + "</dd><dt>" + escape(label) + "</dt></div>\n";
}

std::string step_text(const std::optional<std::int64_t>& step) {
  return step ? std::to_string(*step) : "not within the horizon";
}

std::string headline(const TrainingOutlook& o) {
  const ForecastResult& r = o.planned;
  std::string out = fmt::format(
      "At step {} the loss is {}. Under the plan {} it is forecast to be {} at step {}; nine times in ten it "
      "lies between {}.",
      r.last_step, number(r.loss), r.plan, number(r.forecast.median.back()), r.forecast.step.back(),
      interval(r.forecast, " and "));
  if (const DecayChoice* best = o.best())
    out +=
        fmt::format(" A decay of {} steps that begins now ends at {} ({}), where holding the rate gives {}.",
                    best->length, number(best->loss()), interval(best->decayed.forecast), number(best->held));
  if (r.decision) {
    out += " Decision: " + r.decision->text();
    out += std::isnan(r.decision->forecast)
               ? "."
               : fmt::format(" (loss {} at the end of the decay, probability {:.0f} %).",
                             number(r.decision->forecast), 100 * r.decision->probability);
  }
  return escape(out);
}

std::string tiles(const TrainingOutlook& o) {
  const ForecastResult& r = o.planned;
  std::string out = tile(std::to_string(r.last_step), "steps") + tile(number(r.loss), "loss") +
                    tile(number(r.last_rate), "learning rate") +
                    tile(number(r.forecast.median.back()),
                         "loss forecast for step " + std::to_string(r.forecast.step.back()));
  if (r.time)
    out +=
        tile(step_text(r.time->median), "step at which the target " + number(r.time->target) + " is reached");
  return out;
}

std::string keys(const std::vector<const ForecastResult*>& plans) {
  std::string out;
  for (std::size_t i = 0; i < plans.size(); ++i)
    out += fmt::format("<span class=\"key\"><span class=\"swatch g{}\"></span>{}</span>\n", i,
                       escape(plans[i]->plan));
  return out;
}

std::string decay_table(const TrainingOutlook& o) {
  if (o.decays.empty()) return "<p class=\"empty\">The rate is 0, so that there is nothing to decay.</p>";
  std::string rows;
  for (const DecayChoice& d : o.decays)
    rows += fmt::format(
        "<tr{}><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td "
        "class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td></tr>\n",
        &d == o.best() ? " class=\"best\"" : "", d.length, d.decayed.forecast.step.back(), number(d.loss()),
        interval(d.decayed.forecast), number(d.held),
        d.decayed.time ? step_text(d.decayed.time->median) : "");
  return fmt::format(
      "<p class=\"note\">A decay of the rate to 0 that begins now, of 5, 10, 20 and 35 % of the steps so "
      "far. Averaged weights often give "
      "as much without a decay.</p>\n<div class=\"table\"><table><thead><tr><th class=\"num\">Length</th><th "
      "class=\"num\">Ends at step</th><th class=\"num\">Loss there</th><th class=\"num\">90 % "
      "interval</th><th class=\"num\">Loss if the "
      "rate is held</th><th class=\"num\">{}</th></tr></thead><tbody>\n{}</tbody></table></div>\n",
      o.planned.time ? "Target reached at" : "", rows);
}

std::string standings_table(const ForecastResult& r) {
  std::string rows;
  for (const Standing& s : r.standings)
    if (s.horizon == 1 || s.horizon == 5 || s.horizon == 10)
      rows += fmt::format(
          "<tr{}><td>{}</td><td class=\"num\">{}</td><td class=\"num\">{:.1f}</td><td class=\"num\">{:.0f} "
          "%</td><td "
          "class=\"num\">{:.0f} %</td><td class=\"num\">{}</td></tr>\n",
          s.forecaster == r.forecast.driver ? " class=\"best\"" : "", escape(s.forecaster),
          std::int64_t(s.horizon) * r.block, 1000 * s.score.mean_crps(), 100 * (1 - s.score.relative()),
          100 * s.score.coverage(), s.score.count);
  if (rows.empty()) return "<p class=\"empty\">The log is too short to compare forecasters on its past.</p>";
  return "<div class=\"table\"><table><thead><tr><th>Forecaster</th><th class=\"num\">Steps ahead</th><th "
         "class=\"num\">CRPS of log loss "
         "x 1000</th><th class=\"num\">Skill</th><th class=\"num\">Coverage</th><th "
         "class=\"num\">Forecasts</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

std::string notes(const ForecastResult& r) {
  std::string out = "<p>Forecast by " + escape(r.forecast.driver) + "; quantiles come from " +
                    escape(r.forecast.calibrated_on) + ".</p>";
  for (const std::string& note : r.notes) out += "<p>" + escape(note) + ".</p>";
  return out;
}

}  // namespace

std::string training_report(const TrainingLog& log, const TrainingOutlook& o, const std::string& command) {
  std::vector<const ForecastResult*> plans{&o.planned};
  if (o.planned.plan != "hold") plans.push_back(&o.held);
  if (const DecayChoice* best = o.best()) plans.push_back(&best->decayed);
  return framed({.kind = "training",
                 .title = "Training " + escape(o.planned.file.substr(o.planned.file.find_last_of('/') + 1)),
                 .headline = headline(o),
                 .tiles = "<dl class=\"tiles\">\n" + tiles(o) + "</dl>\n",
                 .command = escape(command)},
                assets::training_html,
                {{"fans", fans(log, plans)},
                 {"block", std::to_string(o.planned.block)},
                 {"keys", keys(plans)},
                 {"decays", decay_table(o)},
                 {"standings", standings_table(o.planned)},
                 {"notes", notes(o.planned)}});
}

}  // namespace kolmo::predict
