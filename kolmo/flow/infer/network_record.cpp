#include "kolmo/flow/infer/network_record.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "kolmo/base/whole.hpp"
#include "kolmo/io/json.hpp"

namespace kolmo {
namespace {

using nlohmann::json;

double number(const json& j) {
  return j.is_null() ? std::numeric_limits<double>::quiet_NaN() : j.get<double>();
}

std::int64_t count(const json& j) { return whole<std::int64_t>(j); }

template <class F>
auto read(const std::string& text, F f) {
  try {
    return f(parse_json(text, "checkpoint: a record"));
  } catch (const json::exception& e) {
    fail<InvalidArgument>(std::string("checkpoint: a record is not what it should be: ") + e.what());
  }
}

}  // namespace

std::string to_record(const TargetResult& r) {
  return json{r.embedding.history, r.embedding.tau, r.samples, r.storage}.dump();
}

TargetResult target_from_record(std::int32_t target, const std::string& text) {
  return read(text, [&](const json& j) -> TargetResult {
    return {target, {count(j.at(0)), count(j.at(1))}, count(j.at(2)), number(j.at(3))};
  });
}

std::string to_record(std::span<const LinkResult> results) {
  json all = json::array();
  for (const LinkResult& r : results) {
    const Summary& s = r.surrogates;
    all.push_back({r.value, r.lag, r.profile, r.p_value, s.mean, s.deviation, s.q95, r.surrogate_count});
  }
  return all.dump();
}

std::vector<LinkResult> links_from_record(std::span<const std::int32_t> sources, std::int32_t target,
                                          const std::string& text) {
  return read(text, [&](const json& all) {
    std::vector<LinkResult> links;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const json& j = all.at(i);
      LinkResult r;
      r.source = sources[i], r.target = target;
      r.value = number(j.at(0)), r.lag = count(j.at(1)), r.p_value = number(j.at(3));
      for (const json& v : j.at(2)) r.profile.push_back(number(v));
      r.surrogates = {number(j.at(4)), number(j.at(5)), number(j.at(6))};
      r.surrogate_count = count(j.at(7));
      links.push_back(std::move(r));
    }
    require(all.size() == sources.size(),
            "checkpoint: a record is not what it should be: its links are others");
    return links;
  });
}

std::string to_record(std::span<const TestRecord> tests) {
  json all = json::array();
  for (const TestRecord& t : tests)
    all.push_back({t.state.exceedances, t.state.surrogates, t.state.open, t.kept});
  return all.dump();
}

std::vector<TestRecord> tests_from_record(std::size_t count_of_tests, const std::string& text) {
  return read(text, [&](const json& all) {
    require(all.size() == count_of_tests,
            "checkpoint: a record is not what it should be: its tests are others");
    std::vector<TestRecord> tests;
    for (const json& j : all) {
      TestRecord t{{count(j.at(0)), count(j.at(1)), j.at(2).get<bool>()}, {}};
      for (const json& v : j.at(3)) t.kept.push_back(number(v));
      tests.push_back(std::move(t));
    }
    return tests;
  });
}

}  // namespace kolmo
