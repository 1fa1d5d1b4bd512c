#include "kolmo/flow/network_json.hpp"

#include <fmt/format.h>

#include "kolmo/flow/checkpoint.hpp"
#include "kolmo/flow/link_table.hpp"
#include "kolmo/flow/methods.hpp"
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
  Json j{{"source", d.variables[l.source]},
         {"target", d.variables[l.target]},
         {"source_index", l.source},
         {"target_index", l.target},
         {"value", l.value},
         {"bias_corrected", bias_corrected(l)},
         {"z", z_score(l)},
         {"lag", l.lag}};
  if (d.time_step) j["lag_time"] = d.time_step->step * l.lag;
  j["p_value"] = l.p_value;
  j["p_at_floor"] = p_at_floor(d, l);
  j["p_adjusted"] = l.p_adjusted;
  j["significant"] = l.significant;
  j["profile"] = std::move(profile);
  j["surrogate_mean"] = l.surrogate_mean;
  j["surrogate_std"] = l.surrogate_std;
  j["surrogate_q95"] = l.surrogate_q95;
  j["surrogates"] = surrogate_count(d, l);
  if (l.min_shift) j["min_shift"] = l.min_shift;
  if (!l.command.empty()) j["command"] = l.command;
  return j;
}

}  // namespace

Json warnings_json(const std::vector<Warning>& warnings) {
  Json all = Json::array();
  for (const Warning& w : warnings) all.push_back({{"name", w.name}, {"text", w.text}});
  return all;
}

Json network_json(const NetworkDocument& document) {
  const NetworkDocument d = checked(document);
  Json targets = Json::array(), links = Json::array();
  for (const NetworkTarget& t : d.targets)
    targets.push_back({{"target", d.variables[t.target]},
                       {"target_index", t.target},
                       {"history", t.history},
                       {"tau", t.tau},
                       {"samples", t.samples},
                       {"active_information_storage", t.active_information_storage}});
  for (const NetworkLink& l : d.links) links.push_back(link_json(d, l));
  Json all{{"measure", "network"},
           {"kolmo_version", d.version},
           {"command", d.command},
           {"device", d.device},
           {"options", d.options},
           {"variables", d.variables},
           {"rows", d.rows},
           {"sets", d.sets},
           {"missing_rows", d.missing_rows},
           {"units", d.units},
           {"targets", std::move(targets)},
           {"links", std::move(links)}};
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

std::string run_key(const Series& series, const Json& options) {
  std::uint64_t data = fingerprint(bytes_of(series.set), fingerprint(bytes_of(series.numbers)));
  for (const std::string& name : series.names) data = fingerprint(name, data);
  for (std::size_t i = 0; i < series.values.size(); ++i)
    data = fingerprint(bytes_of(series.noise[i]), fingerprint(bytes_of(series.values[i]), data));
  return fmt::format("kolmo {} data {:016x} options {}", version(), data,
                     options.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace kolmo
