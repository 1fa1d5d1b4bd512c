#include "kolmo/flow/result/network_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kolmo/base/error.hpp"
#include "kolmo/version.hpp"

namespace kolmo {
namespace {

using Json = nlohmann::ordered_json;

Json valid(const Json& value) {
  return Json::parse(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}
std::string valid(const std::string& text) { return valid(Json(text)).get<std::string>(); }

}  // namespace

std::vector<const NetworkLink*> NetworkDocument::significant_links() const {
  std::vector<const NetworkLink*> found;
  for (const NetworkLink& link : links)
    if (link.significant) found.push_back(&link);
  std::stable_sort(found.begin(), found.end(), [](const NetworkLink* a, const NetworkLink* b) {
    const double x = std::isnan(a->value) ? -HUGE_VAL : a->value;
    const double y = std::isnan(b->value) ? -HUGE_VAL : b->value;
    return x > y;
  });
  return found;
}

std::string NetworkDocument::lag_text(long long lag) const {
  return time_step ? fmt::format("{} ({:.6g} {})", lag, time_step->step * double(lag), time_step->unit)
                   : std::to_string(lag);
}

std::string NetworkDocument::lags_text(const std::vector<int>& lags) const {
  if (lags.empty()) return "none";
  std::string rows, times;
  for (const int lag : lags) {
    const std::string_view comma = rows.empty() ? "" : ", ";
    rows += fmt::format("{}{}", comma, lag);
    if (time_step) times += fmt::format("{}{:.6g}", comma, time_step->step * lag);
  }
  return time_step ? fmt::format("{} ({} {})", rows, times, time_step->unit) : rows;
}

std::string NetworkDocument::at_lags(const NetworkLink& link) const {
  return link.lags.size() > 1 ? "lags " + lags_text(link.lags) : "lag " + lag_text(link.lag);
}

std::string caution(const NetworkDocument& network) {
  if (network.only_storage())
    return "Active information storage is what the own past of a variable tells about its next value, also "
           "where another variable caused both. Each variable is tested by itself, and its p is not adjusted "
           "over the variables.";
  if (network.request.method == NetworkMethod::multivariate)
    return "Links are conditioned on the sources that were chosen, as far as the test could find them: a "
           "link may "
           "still come from a variable that is not in the data. Transfer entropy is evidence of prediction, "
           "not by itself of cause.";
  if (network.request.conditional_all)
    return "Links are conditioned on all other variables of the network: a link may still come from a "
           "variable that is not among them. Transfer entropy is evidence of prediction, not by itself of "
           "cause.";
  return !network.request.given.empty()
             ? "Links are conditioned on the given variables only: a link may still be indirect or come "
               "from a common driver that is not among them. Transfer entropy is evidence of "
               "prediction, not by itself of cause."
             : "Each pair is taken by itself: a link may be indirect, through a third variable, or "
               "come from a common driver. Variables that are known to matter can be conditioned on, by "
               "the option given, and the method multivariate chooses them. Transfer entropy is evidence of "
               "prediction, not by itself of cause.";
}

NetworkDocument network_document(const Network& network, const Series& series, const NetworkOptions& options,
                                 const NetworkRequest& request) {
  const double unit = request.factor();
  const auto place = [&](std::int32_t v) {
    return std::size_t(std::find(options.variables.begin(), options.variables.end(), v) -
                       options.variables.begin());
  };
  NetworkDocument d;
  d.request = request;
  d.version = version();
  d.units = unit_names[std::size_t(request.units)];
  d.rows = series.rows(), d.sets = series.sets, d.missing_rows = series.missing_rows;
  for (const std::int32_t v : options.variables) d.variables.push_back(series.names[std::size_t(v)]);
  for (const TargetResult& t : network.targets)
    d.targets.push_back(
        {place(t.target), int(t.embedding.history), int(t.embedding.tau), t.samples, t.storage * unit});
  const auto values = [&](const std::vector<Chosen>& chosen) {
    std::vector<ChosenValue> all;
    all.reserve(chosen.size());
    for (const Chosen& c : chosen)
      all.push_back({place(c.value.variable), int(c.value.lag), c.information * unit, c.p_value, c.surrogates,
                     c.given_all * unit, c.p_given_all});
    return all;
  };
  for (std::size_t i = 0; i < network.selections.size(); ++i) {
    const TargetSelection& found = network.selections[i];
    NetworkTarget& t = d.targets[i];
    t.own_past = values(found.own_past), t.full = found.full;
    for (const SourceSelection& s : found.sources) {
      t.full |= s.full;
      t.searches.push_back({{}, values(s.chosen), {}, s.joint * unit, s.joint_p, s.first_p});
      for (const std::int32_t v : s.offered) t.searches.back().offered.push_back(place(v));
      for (const Removed& r : s.removed)
        t.searches.back().removed.push_back({place(r.value.variable), int(r.value.lag),
                                             selection_test_names[std::size_t(r.by)], r.information * unit,
                                             r.p_value});
    }
    std::sort(t.searches.begin(), t.searches.end(),
              [](const auto& a, const auto& b) { return a.offered < b.offered; });
  }
  for (const LinkResult& l : network.links) {
    NetworkLink link{place(l.source), place(l.target), l.value * unit, int(l.lag),
                     l.p_value,       l.p_adjusted,    l.significant,  {}};
    for (std::size_t i = 0; i < l.profile.size(); ++i)
      link.profile.push_back({int(options.min_lag) + int(i), l.profile[i] * unit});
    link.surrogate_mean = l.surrogates.mean * unit;
    link.surrogate_std = l.surrogates.deviation * unit;
    link.surrogate_q95 = l.surrogates.q95 * unit;
    link.surrogate_count = l.surrogate_count, link.min_shift = l.min_shift, link.samples = l.samples;
    link.lags.assign(l.lags.begin(), l.lags.end());
    d.links.push_back(std::move(link));
  }
  return d;
}

NetworkDocument checked(const NetworkDocument& document) {
  NetworkDocument d = document;
  require(!d.variables.empty(), "network document: variables: is empty");
  const auto known = [&](const std::string& where, std::size_t variable) {
    require(variable < d.variables.size(), "network document: " + where + ": " + std::to_string(variable) +
                                               " is not one of " + std::to_string(d.variables.size()) +
                                               " variables");
  };
  for (std::size_t i = 0; i < d.links.size(); ++i) {
    known("links[" + std::to_string(i) + "].source", d.links[i].source);
    known("links[" + std::to_string(i) + "].target", d.links[i].target);
  }
  for (std::size_t i = 0; i < d.targets.size(); ++i)
    known("targets[" + std::to_string(i) + "].target", d.targets[i].target);
  const auto& groups = d.groups;
  require(groups.names.empty() || groups.group_of.size() == d.variables.size(),
          "network document: groups: " + std::to_string(groups.group_of.size()) + " entries for " +
              std::to_string(d.variables.size()) + " variables");
  for (const std::size_t g : groups.group_of)
    require(g < groups.names.size(), "network document: groups: " + std::to_string(g) + " is not one of " +
                                         std::to_string(groups.names.size()) + " groups");
  if (d.time_step) d.time_step->unit = valid(d.time_step->unit);
  if (d.time) d.time->name = valid(d.time->name), d.time->unit = valid(d.time->unit);
  for (std::string& name : d.groups.names) name = valid(name);
  for (std::string* text : {&d.command, &d.device, &d.file, &d.version, &d.units}) *text = valid(*text);
  for (std::string& name : d.variables) name = valid(name);
  for (Warning& w : d.warnings) w.text = valid(w.text);
  for (auto& [name, value] : d.reading) value = valid(value);
  for (Columns* columns :
       {&d.request.given, &d.request.columns, &d.request.exclude, &d.request.trials, &d.request.time})
    columns->text = valid(columns->text);
  for (std::string* text : {&d.request.rows, &d.request.groups, &d.request.dt_unit, &d.request.where})
    *text = valid(*text);
  return d;
}

}  // namespace kolmo
