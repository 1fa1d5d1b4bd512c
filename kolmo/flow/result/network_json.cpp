#include "kolmo/flow/result/network_json.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kolmo/base/hash.hpp"
#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/flow/result/methods.hpp"
#include "kolmo/flow/result/storage_table.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/version.hpp"

namespace kolmo {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
std::string_view bytes_of(const std::vector<T>& v) {
  return {reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T)};
}

Json link_json(const NetworkDocument& d, const NetworkLink& l) {
  Json profile = Json::array();
  for (const LagValue& v : l.profile) profile.push_back({{"lag", v.lag}, {"value", v.value}});
  Json::object_t members;
  members.reserve(22);
  // The names are known to differ; operator[] would search for each.
  const auto add = [&](const char* name, auto&& value) {
    members.emplace_back(name, std::forward<decltype(value)>(value));
  };
  add("source", d.variables[l.source]), add("target", d.variables[l.target]);
  add("source_index", l.source), add("target_index", l.target);
  add("value", l.value), add("bias_corrected", bias_corrected(l)), add("z", z_score(l));
  add("lag", l.lag);
  if (d.greedy()) add("lags", l.lags);
  if (d.time_step) add("lag_time", d.time_step->step * l.lag);
  add("p_value", l.p_value), add("p_at_floor", p_at_floor(d, l)), add("p_adjusted", l.p_adjusted);
  add("significant", l.significant);
  add("profile", std::move(profile));
  add("surrogate_mean", l.surrogate_mean), add("surrogate_std", l.surrogate_std);
  add("surrogate_q95", l.surrogate_q95);
  add("surrogates", surrogate_count(d, l));
  if (l.samples) add("samples", l.samples);
  if (l.min_shift) add("min_shift", l.min_shift);
  if (!l.command.empty()) add("command", l.command);
  return members;
}

Json value_json(const NetworkDocument& d, const ChosenValue& c, bool of_source) {
  Json j{{"variable", d.variables[c.variable]},
         {"variable_index", c.variable},
         {"lag", c.lag},
         {"value", c.value},
         {"p_value", c.p_value},
         {"surrogates", c.surrogates}};
  if (of_source) j["value_given_all"] = c.given_all, j["p_value_given_all"] = c.p_given_all;
  return j;
}

/// The tests of all values together that a search chose, and of the value that it tested first.
Json tests_json(const NetworkSearch& s) {
  return {{"joint_value", s.joint}, {"joint_p_value", s.joint_p}, {"first_p_value", s.first_p}};
}

/// What greedy searches found for a target.
Json searched_json(const NetworkDocument& d, const NetworkTarget& t) {
  Json j{{"target", d.variables[t.target]},
         {"target_index", t.target},
         {"samples", t.samples},
         {"active_information_storage", t.active_information_storage},
         {"own_past", Json::array()},
         {"sources", Json::array()},
         {"removed", Json::array()}};
  if (d.only_storage()) {
    const StorageTest test = storage_test(d, t);
    j["p_value"] = test.p_value, j["p_at_floor"] = test.at_floor;
  }
  for (const ChosenValue& c : t.own_past) j["own_past"].push_back(value_json(d, c, d.only_storage()));
  for (const NetworkSearch& s : t.searches) {
    for (const ChosenValue& c : s.chosen) j["sources"].push_back(value_json(d, c, true));
    for (const RemovedValue& r : s.removed)
      j["removed"].push_back({{"variable", d.variables[r.variable]},
                              {"variable_index", r.variable},
                              {"lag", r.lag},
                              {"test", r.test},
                              {"value", r.value},
                              {"p_value", r.p_value}});
  }
  const bool each = d.request.method == NetworkMethod::bivariate;
  if (each) j["searches"] = Json::array();
  for (const NetworkSearch& s : t.searches) {
    if (!each) {
      j.update(tests_json(s));
      continue;
    }
    j["searches"].push_back({{"variable", d.variables[s.offered[0]]}, {"variable_index", s.offered[0]}});
    j["searches"].back().update(tests_json(s));
  }
  j["max_conditions_reached"] = t.full;
  return j;
}

std::string text_of(const Json& value) { return value.dump(2, ' ', false, Json::error_handler_t::replace); }

/// The document without its links; their array is empty.
Json frame_json(const NetworkDocument& d) {
  Json targets = Json::array();
  for (const NetworkTarget& t : d.targets)
    if (d.greedy())
      targets.push_back(searched_json(d, t));
    else
      targets.push_back({{"target", d.variables[t.target]},
                         {"target_index", t.target},
                         {"history", t.history},
                         {"tau", t.tau},
                         {"samples", t.samples},
                         {"active_information_storage", t.active_information_storage}});
  Json all{{"measure", "network"},
           {"kolmo_version", d.version},
           {"command", d.command},
           {"device", d.device},
           {"options", document_options(d)},
           {"variables", d.variables},
           {"rows", d.rows},
           {"sets", d.sets},
           {"missing_rows", d.missing_rows},
           {"units", d.units},
           {"targets", std::move(targets)},
           {"links", Json::array()}};
  if (d.time) all["time_axis"] = time_json(*d.time);
  if (d.time_step) all["time_step"] = {{"step", d.time_step->step}, {"unit", d.time_step->unit}};
  if (!d.groups.names.empty())
    for (std::size_t i = 0; i < d.variables.size(); ++i)
      all["groups"].push_back(
          {{"variable", d.variables[i]}, {"group", d.groups.names[d.groups.group_of[i]]}});
  all["caution"] = caution(d);
  all["methods"] = methods_json(d);
  all["warnings"] = warnings_json(d.warnings);
  if (d.seconds) all["seconds"] = *d.seconds;
  return all;
}

}  // namespace

Json document_options(const NetworkDocument& d) {
  const NetworkRequest& r = d.request;
  Json j{{"file", d.file}};
  for (const auto& [name, value] : d.reading) j[name] = value.empty() ? Json(true) : Json(value);
  j.update(options_json(r));
  if (!d.analytic()) {
    j["p_value_convention"] = p_value_formula(r.p_value);
  } else {
    j["test"] = "F";
    if (r.max_lag > 1) j["lag_correction"] = "Sidak";
  }
  if (d.time_step) j["dt"] = d.time_step->step, j["dt_unit"] = d.time_step->unit;
  if (!r.groups.empty()) j["groups"] = r.groups;
  return j;
}

Json time_json(const TimeAxis& t) {
  Json j{
      {"column", t.name}, {"first", t.first}, {"last", t.last}, {"gaps", t.gaps}, {"absent_rows", t.absent}};
  j["step"] = t.step ? Json(*t.step) : Json();
  if (!t.unit.empty()) j["unit"] = t.unit;
  return j;
}

Json warnings_json(const std::vector<Warning>& warnings) {
  Json all = Json::array();
  for (const Warning& w : warnings) all.push_back({{"name", w.name}, {"text", w.text}});
  return all;
}

Json network_json(const NetworkDocument& document) {
  const NetworkDocument d = checked(document);
  Json all = frame_json(d);
  for (const NetworkLink& l : d.links) all["links"].push_back(link_json(d, l));
  return all;
}

std::string network_text(const NetworkDocument& document, int threads, const Json& more) {
  const NetworkDocument d = checked(document);
  Json frame = frame_json(d);
  frame.update(more);
  std::string text = text_of(frame) + "\n";
  constexpr std::int64_t at_once = 64;
  const auto links = std::int64_t(d.links.size());
  std::vector<std::string> parts(std::size_t((links + at_once - 1) / at_once));
  parallel_for(threads, std::int64_t(parts.size()), [&](std::int64_t part, int) {
    for (std::int64_t i = part * at_once; i < std::min(links, (part + 1) * at_once); ++i) {
      std::string& to = parts[std::size_t(part)];
      to += i ? ",\n    " : "\n    ";
      for (const char c : text_of(link_json(d, d.links[std::size_t(i)]))) {
        to += c;
        if (c == '\n') to += "    ";
      }
    }
  });
  const std::string_view place =
      "\n  \"links\": [";  // the array of the outermost object, as no text holds a line break
  std::string all;
  for (const std::string& part : parts) all += part;
  if (links) text.insert(text.find(place) + place.size(), all + "\n  ");
  return text;
}

std::string run_key(const Series& series, const Json& options) {
  const std::vector<char> where(series.where.begin(), series.where.end());
  std::uint64_t data = fingerprint(bytes_of(series.trial), fingerprint(bytes_of(series.numbers)));
  data = fingerprint(bytes_of(series.steps), fingerprint(bytes_of(where), data));
  data = fingerprint(bytes_of(series.keys), data);
  for (const std::string& name : series.names) data = fingerprint(name, data);
  for (std::size_t i = 0; i < series.values.size(); ++i)
    data = fingerprint(bytes_of(series.noise[i]), fingerprint(bytes_of(series.values[i]), data));
  return fmt::format("kolmo {} data {:016x} options {}", version(), data,
                     options.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace kolmo
