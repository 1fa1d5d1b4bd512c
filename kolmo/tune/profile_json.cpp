#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kolmo/base/whole.hpp"
#include "kolmo/io/json.hpp"
#include "kolmo/io/sha256.hpp"
#include "kolmo/tune/profile.hpp"

namespace kolmo::tune {
namespace {

using Json = nlohmann::json;  // keys in alphabetical order: equal content gives equal text

/// Writes seconds as nanoseconds, rounded to picoseconds, so that values survive writing and reading.
Json nanoseconds(double s) { return std::isfinite(s) ? Json(std::round(s * 1e12) / 1e3) : Json(); }
Json number(double x) { return std::isfinite(x) ? Json(x) : Json(); }
double number(const Json& j) { return j.is_null() ? INFINITY : j.get<double>(); }
std::int64_t integer(const Json& j) { return whole<std::int64_t>(j); }
std::size_t count(const Json& j) { return whole<std::size_t>(j); }

Json json_of(const Environment& e) {
  return {{"schema", schema},
          {"device",
           {{"name", e.device},
            {"kind", e.kind},
            {"cc", e.capability},
            {"sms", e.processors},
            {"l2_bytes", e.cache_bytes},
            {"mem_bytes", e.memory_bytes},
            {"power_limit_w", e.power_limit_watts}}},
          {"driver", e.driver},
          {"library_version", e.library_version},
          {"policy", {{"mode", e.mode}}}};
}

Json json_of(const Key& k) {
  Json dims = Json::array();
  for (const Key::Dim& d : k.dims)
    dims.push_back({{"dim", d.name}, {"lo", d.bucket.low}, {"hi", d.bucket.high}, {"probe", d.bucket.high}});
  return {{"kernel", k.kernel}, {"kernel_hash", k.kernel_hash}, {"dtype", k.dtype},
          {"layout", "row"},    {"bucket", std::move(dims)},    {"extras", k.extras}};
}

Key key_of(const Json& j) {
  Key k{j.at("kernel"), j.at("kernel_hash"), j.at("dtype"), {}, j.at("extras")};
  for (const Json& d : j.at("bucket"))
    k.dims.push_back({d.at("dim"), {integer(d.at("lo")), integer(d.at("hi"))}});
  return k;
}

Json json_of(const Profile::Config& c) {
  const Finding& f = c.finding;
  Json j{{"params", c.params}, {"label", c.label}, {"n", f.samples}};
  if (f.samples) {
    j["median_ns"] = nanoseconds(f.seconds.median), j["iqr_ns"] = nanoseconds(f.quartiles);
    j["ci95_ns"] = {nanoseconds(f.seconds.lower), nanoseconds(f.seconds.upper)};
    j["vs_default"] = {{"ratio", number(f.gain.median)},
                       {"ci95", {f.gain.lower, number(f.gain.upper)}},
                       {"pairs", f.gain.pairs}};
  }
  if (!c.variant.empty()) j["variant"] = c.variant;
  if (!f.verified.empty()) j["verified"] = f.verified;
  if (!f.error.empty()) j["error"] = f.error;
  return j;
}

Profile::Config config_of(const Json& j) {
  Profile::Config c{whole_numbers<std::int64_t>(j.at("params")), j.at("label"), {}, j.value("variant", "")};
  Finding& f = c.finding;
  f.samples = whole<int>(j.at("n"));
  if (f.samples) {
    const Json &ci = j.at("ci95_ns"), &gain = j.at("vs_default");
    f.seconds = {j.at("median_ns").get<double>() * 1e-9, ci.at(0).get<double>() * 1e-9,
                 number(ci.at(1)) * 1e-9, f.samples};
    f.quartiles = j.at("iqr_ns").get<double>() * 1e-9;
    f.gain = {number(gain.at("ratio")), gain.at("ci95").at(0), number(gain.at("ci95").at(1)),
              whole<int>(gain.at("pairs"))};
  }
  f.verified = j.value("verified", ""), f.error = j.value("error", "");
  return c;
}

Json json_of(const Profile& p) {
  Json configs = Json::object();
  for (const auto& [name, config] : p.configs) configs[name] = json_of(config);
  return {{"schema", schema},
          {"key", json_of(p.key)},
          {"winner", p.winner},
          {"default", p.standard},
          {"naive", p.naive},
          {"configs", std::move(configs)},
          {"search",
           {{"strategy", p.strategy},
            {"space", p.combinations},
            {"feasible", p.feasible},
            {"measured", p.configs.size()},
            {"samples", p.samples},
            {"discarded", p.discarded},
            {"seconds", p.seconds}}},
          {"env",
           {{"sm_clock_hz", {{"median", p.sm_clock_hertz}, {"min", p.lowest_sm_clock_hertz}}},
            {"temp_c", p.temperature_celsius},
            {"throttled", p.throttled}}},
          {"baselines", p.baselines},
          {"created", p.created},
          {"expires", p.expires},
          {"stale", p.stale}};
}

/// Checks that a configuration exists and is neither broken nor wrong.
void check_usable(const Profile& p, const std::string& name, const char* what) {
  const auto c = p.configs.find(name);
  if (c == p.configs.end() || !c->second.finding.error.empty() || !(c->second.finding.seconds.median > 0))
    fail<InvalidArgument>(std::string("the ") + what + " is not one of its usable configurations");
}

/// Runs a parser and converts every mismatch to InvalidArgument.
template <class F>
auto parse(std::string_view text, const char* what, F f) {
  try {
    const Json j = parse_json(text, what);
    if (const int s = j.contains("schema") ? whole<int>(j.at("schema")) : schema; s != schema)
      fail<InvalidArgument>(std::string(what) + " is of schema " + std::to_string(s) + ", this is " +
                            std::to_string(schema));
    return f(j);
  } catch (const Json::exception& e) {
    fail<InvalidArgument>(std::string(what) + " is not what it should be: " + e.what());
  }
}

}  // namespace

std::string to_json(const Environment& e) { return json_of(e).dump(); }
std::string to_json(const Key& k) { return json_of(k).dump(); }
std::string to_json(const Profile& p) {
  Json j = json_of(p);
  j["sha256"] = sha256(j.dump());
  return j.dump(1) + "\n";
}

Environment parse_environment(std::string_view text) {
  return parse(text, "the manifest", [](const Json& j) {
    const Json& d = j.at("device");
    return Environment{d.at("name"),
                       d.at("kind"),
                       d.at("cc"),
                       whole<int>(d.at("sms")),
                       whole<std::uint64_t>(d.at("l2_bytes")),
                       whole<std::uint64_t>(d.at("mem_bytes")),
                       d.at("power_limit_w"),
                       j.at("driver"),
                       j.at("library_version"),
                       j.at("policy").at("mode")};
  });
}

std::string to_json(const Key& key, const CallShape& call) {
  Json dtypes = Json::object();
  for (const auto& [variable, dtype] : call.dtypes) dtypes[variable] = to_string(dtype);
  return Json{{"schema", schema},
              {"key", json_of(key)},
              {"call",
               {{"dtypes", std::move(dtypes)},
                {"sizes", call.sizes},
                {"given", call.given},
                {"options", call.options}}}}
      .dump();
}

std::pair<Key, CallShape> parse_miss(std::string_view text) {
  return parse(text, "the missed call", [](const Json& j) {
    const Json& c = j.at("call");
    CallShape call{{}, whole_numbers<std::int64_t>(c.at("sizes")), c.at("given"), c.at("options")};
    for (const auto& [variable, name] : c.at("dtypes").items()) {
      const std::string wanted = name;
      const auto* dtype = std::ranges::find_if(all_dtypes, [&](DType t) { return to_string(t) == wanted; });
      if (dtype == std::end(all_dtypes)) fail<InvalidArgument>("the missed call has an unknown dtype");
      call.dtypes[variable] = *dtype;
    }
    return std::pair(key_of(j.at("key")), std::move(call));
  });
}

Profile parse_profile(std::string_view text) {
  return parse(text, "the profile", [](Json j) {
    const std::string claimed = j.at("sha256");
    j.erase("sha256");
    if (sha256(j.dump()) != claimed) fail<InvalidArgument>("the profile is damaged: its checksum is wrong");
    Profile p;
    p.key = key_of(j.at("key"));
    for (const auto& [name, config] : j.at("configs").items()) p.configs[name] = config_of(config);
    p.winner = j.at("winner"), p.standard = j.at("default"), p.naive = j.at("naive");
    check_usable(p, p.winner, "winner");
    check_usable(p, p.standard, "default");
    const Json &search = j.at("search"), &env = j.at("env");
    p.strategy = search.at("strategy"), p.combinations = count(search.at("space")),
    p.feasible = count(search.at("feasible"));
    p.samples = count(search.at("samples")), p.discarded = count(search.at("discarded")),
    p.seconds = search.at("seconds");
    p.sm_clock_hertz = env.at("sm_clock_hz").at("median");
    p.lowest_sm_clock_hertz = env.at("sm_clock_hz").at("min");
    p.temperature_celsius = env.at("temp_c"), p.throttled = env.at("throttled");
    p.baselines = j.at("baselines");
    p.created = integer(j.at("created")), p.expires = integer(j.at("expires")), p.stale = j.at("stale");
    return p;
  });
}

}  // namespace kolmo::tune
