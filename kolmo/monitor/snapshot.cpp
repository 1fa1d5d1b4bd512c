#include "kolmo/monitor/snapshot.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>

#include "kolmo/monitor/exposition.hpp"
#include "kolmo/version.hpp"

namespace kolmo::monitor {
namespace {

using Json = nlohmann::ordered_json;
using std::string_view_literals::operator""sv;

struct Subject {
  std::string_view name;
  std::vector<std::string_view> identity;  // labels that identify the subject
};
const Subject subjects[] = {{"cpu", {}},
                            {"gpu", {"gpu", "uuid"}},
                            {"kernel", {"kernel", "device"}},
                            {"pool", {"pool"}},
                            {"pipeline", {"pipeline"}},
                            {"tuner", {"kernel"}},
                            {"training", {"run"}},
                            {"monitor", {}}};

Json windows(const History& history, const std::string& series) {
  Json all = Json::object();
  for (const auto& [name, seconds] : {std::pair{"10s", 10.0}, {"1m", 60.0}, {"5m", 300.0}}) {
    const metrics::HistogramData d = history.window(series, seconds).data;
    Json w = {{"count", d.count()}};
    if (d.count()) w["mean"] = d.mean(), w["p50"] = d.quantile(0.5), w["p99"] = d.quantile(0.99);
    all[name] = std::move(w);
  }
  return all;
}

bool identifies(const Subject& s, std::string_view label) {
  return std::find(s.identity.begin(), s.identity.end(), label) != s.identity.end();
}

/// The object of this subject in the list, added if it is new.
Json& object_of(Json& list, const Subject& subject, const metrics::Labels& labels) {
  Json identity = Json::object();
  for (const auto label : subject.identity)
    for (const auto& [key, value] : labels)
      if (key == label) identity[key] = value;
  for (Json& known : list) {
    bool same = true;
    for (const auto& [key, value] : identity.items()) same &= known.contains(key) && known[key] == value;
    if (same) return known;
  }
  list.push_back(std::move(identity));
  return list.back();
}

void put(Json& object, const std::string& name, const metrics::Labels& further, Json value) {
  Json* place = &object[name];
  for (const auto& [key, label] : further) place = &(*place)[label];
  *place = std::move(value);
}

void add(Json& list, const Subject& subject, const metrics::Family& f, const metrics::Reading& s,
         const History& history) {
  std::string name = f.name.substr("kolmo_"sv.size() + subject.name.size() + 1);
  Json& object = object_of(list, subject, s.labels);
  metrics::Labels further;
  for (const auto& label : s.labels)
    if (!identifies(subject, label.first)) further.push_back(label);
  if (name == "info") {
    for (const auto& [key, value] : further) object[key] = value;
    return;
  }
  const std::string series = series_name(f.name, s.labels);
  if (f.kind == metrics::Kind::histogram) return put(object, name, further, windows(history, series));
  put(object, name, further, s.value);
  if (f.kind != metrics::Kind::counter || !name.ends_with("_total")) return;
  const double rate = history.rate(series, 10);
  if (!std::isnan(rate)) put(object, name.replace(name.size() - 6, 6, "_per_second"), further, rate);
}

}  // namespace

Json snapshot(const std::vector<metrics::Family>& families, const History& history) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  Json all = {{"schema", 1},     {"kolmo_version", version()}, {"commit", commit()},
              {"pid", getpid()}, {"time", now.count()},        {"history_seconds", 0.0}};
  if (const auto times = history.times(); !times.empty())
    all["history_seconds"] = times.back() - times.front();
  for (const Subject& subject : subjects) {
    const std::string prefix = "kolmo_" + std::string(subject.name) + "_";
    Json list = Json::array();
    for (const metrics::Family& f : families)
      if (f.name.starts_with(prefix))
        for (const metrics::Reading& s : f.readings) add(list, subject, f, s, history);
    if (!subject.identity.empty()) {
      const std::string first(subject.identity[0]);
      std::stable_sort(list.begin(), list.end(),
                       [&](const Json& a, const Json& b) { return a.value(first, "") < b.value(first, ""); });
    }
    all[std::string(subject.name)] = std::move(list);
  }
  return all;
}

Json curves(const std::vector<metrics::Family>& families, const History& history) {
  static constexpr std::string_view shown[] = {
      "kolmo_cpu_busy_ratio",        "kolmo_cpu_memory_used_bytes",
      "kolmo_gpu_busy_ratio",        "kolmo_gpu_sm_active_ratio",
      "kolmo_gpu_memory_used_bytes", "kolmo_gpu_power_watts",
      "kolmo_kernel_launches_total", "kolmo_kernel_busy_seconds_total",
      "kolmo_pool_used_bytes",       "kolmo_pipeline_queue_length",
      "kolmo_training_loss",         "kolmo_training_forecast_loss"};
  Json series = Json::object();
  for (const metrics::Family& f : families) {
    if (std::find(std::begin(shown), std::end(shown), f.name) == std::end(shown)) continue;
    for (const metrics::Reading& s : f.readings) {
      const std::string name = series_name(f.name, s.labels);
      Json values = Json::array();
      for (const double v : history.values(name)) values.push_back(std::isnan(v) ? Json() : Json(v));
      series[name] = std::move(values);
    }
  }
  return {{"seconds", history.times()}, {"series", std::move(series)}};
}

}  // namespace kolmo::monitor
