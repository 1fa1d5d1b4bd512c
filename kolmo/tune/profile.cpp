#include "kolmo/tune/profile.hpp"

#include <ctime>

#include "kolmo/io/sha256.hpp"
#include "kolmo/tune/clocks.hpp"
#include "kolmo/version.hpp"

namespace kolmo::tune {

std::string Environment::id() const { return sha256(to_json(*this), 16); }
std::string Key::id() const { return sha256(to_json(*this), 24); }

Environment environment_of(Device device, std::string_view mode) {
  const DeviceInfo info = device_info(device);
  constexpr std::string_view kinds[] = {"cpu", "cuda", "simt"};
  Environment e;
  e.device = info.name, e.kind = kinds[std::size_t(device.kind)], e.capability = info.capability;
  e.processors = info.processors, e.memory_bytes = info.memory;
  e.cache_bytes = info.cache;
  e.power_limit_watts = gpu_power_limit(device);
  e.driver = info.driver, e.library_version = version(), e.mode = mode;
  return e;
}

Profile make_profile(Key key, const Space& space, const Tuning& tuning,
                     const std::function<std::string(std::size_t config)>& label) {
  const auto name = [&](std::size_t config) { return "c" + std::to_string(space.id(config)); };
  Profile p;
  p.key = std::move(key);
  for (const Finding& f : tuning.findings) {
    Profile::Config& c = p.configs[name(f.config)];
    const Values values = space.values(f.config);
    for (std::size_t i = 0; i < values.size(); ++i) c.params[space.parameters()[i].name] = values[i];
    c.label = label ? label(f.config) : space.describe(f.config);
    c.finding = f;
  }
  p.winner = name(tuning.winner), p.standard = name(tuning.standard);
  if (tuning.naive >= 0) p.naive = name(std::size_t(tuning.naive));
  p.strategy = tuning.strategy, p.combinations = tuning.combinations, p.feasible = tuning.feasible;
  p.samples = tuning.samples, p.discarded = tuning.discarded, p.seconds = tuning.seconds;
  p.created = std::time(nullptr);
  constexpr std::int64_t day = 86400;
  const auto jitter =
      std::int64_t(std::stoull(sha256(p.key.id() + std::to_string(p.created), 8), nullptr, 16));
  p.expires = p.created + 7 * day + (jitter % (28 * day / 10)) - 14 * day / 10;
  return p;
}

}  // namespace kolmo::tune
