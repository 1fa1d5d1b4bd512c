#include "kolmo/flow/network_record.hpp"

#include <limits>
#include <nlohmann/json.hpp>

namespace kolmo {
namespace {

using nlohmann::json;

double number(const json& j) {
  return j.is_null() ? std::numeric_limits<double>::quiet_NaN() : j.get<double>();
}

}  // namespace

std::string to_record(const TargetResult& r) {
  return json{r.embedding.history, r.embedding.tau, r.samples, r.storage}.dump();
}

TargetResult target_from_record(std::int32_t target, const std::string& text) {
  const json j = json::parse(text);
  return {target, {j.at(0), j.at(1)}, j.at(2), number(j.at(3))};
}

std::string to_record(const LinkResult& r) {
  const Summary& s = r.surrogates;
  return json{r.value, r.lag, r.profile, r.p_value, s.mean, s.deviation, s.q95}.dump();
}

LinkResult link_from_record(std::int32_t source, std::int32_t target, const std::string& text) {
  const json j = json::parse(text);
  LinkResult r;
  r.source = source, r.target = target;
  r.value = number(j.at(0)), r.lag = j.at(1), r.p_value = number(j.at(3));
  for (const json& v : j.at(2)) r.profile.push_back(number(v));
  r.surrogates = {number(j.at(4)), number(j.at(5)), number(j.at(6))};
  return r;
}

}  // namespace kolmo
