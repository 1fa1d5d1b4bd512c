#include <cstdint>
#include <cstdlib>

#include "kolmo/base/error.hpp"
#include "kolmo/io/json.hpp"
#include "kolmo/io/sha256.hpp"
#include "kolmo/tune/store_files.hpp"

namespace {

using Json = nlohmann::json;

/// Makes the checksum of a damaged profile right, so that what is behind it is tested too: whoever writes a
/// profile can compute it.
void correct_checksum(Json& profile) {
  if (!profile.is_object()) return;
  profile.erase("sha256");
  profile["sha256"] = kolmo::sha256(profile.dump());
}

/// Anything must be accepted or refused by InvalidArgument.
template <class F>
void accept_or_refuse(F f) try {
  f();
} catch (const kolmo::InvalidArgument&) {}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  using namespace kolmo::tune;
  const std::string text(reinterpret_cast<const char*>(data), size);
  accept_or_refuse([&] { parse_environment(text).id(); });
  accept_or_refuse([&] { parse_miss(text).first.id(); });
  accept_or_refuse([&] { parse_profile(text); });
  accept_or_refuse([&] { parse_bundle(text, "f.json"); });
  Json j = kolmo::parse_json(text, "f.json");
  if (j.is_object() && j.contains("kolmo_tuning") && j["kolmo_tuning"].is_array()) {
    for (Json& each : j["kolmo_tuning"])
      if (each.is_object() && each.contains("profile")) correct_checksum(each["profile"]);
    accept_or_refuse([&] { parse_bundle(j.dump(), "f.json"); });
  }
  correct_checksum(j);
  accept_or_refuse([&] { to_json(parse_profile(j.dump())); });
  return 0;
} catch (const kolmo::InvalidArgument& error) {
  if (!std::string(error.what()).starts_with("f.json: ")) std::abort();
  return 0;
}
