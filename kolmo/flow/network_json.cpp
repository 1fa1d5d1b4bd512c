#include "kolmo/flow/network_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <span>

#include "kolmo/flow/checkpoint.hpp"
#include "kolmo/version.hpp"

namespace kolmo {
namespace {

using json = nlohmann::ordered_json;

template <class T>
std::string_view bytes_of(const std::vector<T>& v) {
  return {reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T)};
}

json link_json(const LinkResult& l, std::size_t source, std::size_t target, double unit) {
  json profile = json::array();
  for (std::size_t i = 0; i < l.profile.size(); ++i)
    profile.push_back({{"lag", i + 1}, {"value", l.profile[i] * unit}});
  return {{"source", source},
          {"target", target},
          {"value", l.value * unit},
          {"lag", l.lag},
          {"p_value", l.p_value},
          {"p_adjusted", l.p_adjusted},
          {"significant", l.significant},
          {"profile", std::move(profile)},
          {"surrogate_mean", l.surrogates.mean * unit},
          {"surrogate_std", l.surrogates.deviation * unit},
          {"surrogate_q95", l.surrogates.q95 * unit}};
}

}  // namespace

json network_json(const Network& network, const Series& series, const NetworkOptions& options,
                  const RunDescription& run, bool bits) {
  const double unit = bits ? 1 / std::numbers::ln2 : 1;
  const auto place = [&](std::int32_t v) {
    return std::size_t(std::find(options.variables.begin(), options.variables.end(), v) -
                       options.variables.begin());
  };
  json variables = json::array(), targets = json::array(), links = json::array();
  for (const std::int32_t v : options.variables) variables.push_back(series.names[std::size_t(v)]);
  for (const TargetResult& t : network.targets)
    targets.push_back({{"target", place(t.target)},
                       {"history", t.embedding.history},
                       {"tau", t.embedding.tau},
                       {"samples", t.samples},
                       {"active_information_storage", t.storage * unit}});
  for (const LinkResult& l : network.links)
    links.push_back(link_json(l, place(l.source), place(l.target), unit));
  return {{"measure", "network"},
          {"kolmo_version", version()},
          {"command", run.command},
          {"device", run.device},
          {"options", run.options},
          {"variables", std::move(variables)},
          {"samples", series.rows()},
          {"sets", series.sets},
          {"missing_rows", series.missing_rows},
          {"units", bits ? "bits" : "nats"},
          {"targets", std::move(targets)},
          {"links", std::move(links)}};
}

std::string run_key(const Series& series, const json& options) {
  std::uint64_t data = fingerprint(bytes_of(series.set), fingerprint(bytes_of(series.numbers)));
  for (const std::string& name : series.names) data = fingerprint(name, data);
  for (std::size_t i = 0; i < series.values.size(); ++i)
    data = fingerprint(bytes_of(series.noise[i]), fingerprint(bytes_of(series.values[i]), data));
  return fmt::format("kolmo {} data {:016x} options {}", version(), data,
                     options.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace kolmo
