#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/json.hpp"
#include "kolmo/tune/store.hpp"
#include "kolmo/tune/store_files.hpp"

namespace kolmo::tune {
namespace fs = std::filesystem;
using Json = nlohmann::json;

std::size_t Store::export_to(const std::string& file) const {
  Json profiles = Json::array();
  for (const Found& f : all())
    profiles.push_back(
        {{"environment", Json::parse(to_json(f.environment))}, {"profile", Json::parse(to_json(f.profile))}});
  const std::size_t count = profiles.size();
  write_file(file, Json{{"schema", schema}, {"kolmo_tuning", std::move(profiles)}}.dump(1) + "\n");
  return count;
}

std::vector<Store::Found> parse_bundle(const std::string& text, const std::string& file) {
  std::vector<Store::Found> found;
  const Json bundle = parse_json(text, file);
  try {
    if (bundle.at("schema") != schema)
      fail<InvalidArgument>(file + ": is of schema " + bundle.at("schema").dump() + ", this is " +
                            std::to_string(schema));
    for (const Json& j : bundle.at("kolmo_tuning"))
      found.push_back({parse_environment(j.at("environment").dump()), parse_profile(j.at("profile").dump())});
  } catch (const Json::exception& e) {
    fail<InvalidArgument>(file + ": is no bundle of tuning results: " + e.what());
  } catch (const InvalidArgument& e) {
    if (std::string(e.what()).starts_with(file)) throw;
    fail<InvalidArgument>(file + ": " + e.what());
  }
  return found;
}

std::size_t Store::import_from(const std::string& file) {
  constexpr std::uint64_t most = 256 << 20;
  const std::vector<Found> found = parse_bundle(read_regular(file, most), file);
  // Counted only after all checks: a bundle is imported whole or not at all.
  std::size_t taken = 0;
  for (const Found& f : found) {
    const auto mine = get(f.environment, f.profile.key);
    if (mine && mine->created >= f.profile.created) continue;
    put(f.environment, f.profile);
    ++taken;
  }
  return taken;
}

Store::Collected Store::collect(std::uint64_t bytes) {
  Collected c;
  std::error_code error;
  const auto size = [&](const fs::path& path) {
    const auto n = fs::file_size(path, error);
    return error ? 0 : std::uint64_t(n);
  };
  const auto remove = [&](const fs::path& path) {
    const auto n = size(path);
    if (fs::remove(path, error)) ++c.files, c.bytes += n;
  };
  const auto now = fs::file_time_type::clock::now();
  for (fs::recursive_directory_iterator i(root_ + "/v1", error), end; !error && i != end; i.increment(error))
    if (i->path().extension() == ".tmp" &&
        now - fs::last_write_time(i->path(), error) > std::chrono::hours(1))
      remove(i->path());
  const auto found = all([&](const std::string& file, const std::string&) {
    if (fs::path(file).extension() != ".tmp" && !newer_schema(file)) remove(file);
  });
  struct Kept {
    std::int64_t created;
    std::string path;
  };
  std::vector<Kept> kept;
  for (const Found& f : found) kept.push_back({f.profile.created, file(f.environment, f.profile.key)});
  std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) { return a.created > b.created; });
  for (const Kept& k : kept) {
    if (c.kept + size(k.path) <= bytes)
      c.kept += size(k.path);
    else
      remove(k.path);
  }
  return c;
}

}  // namespace kolmo::tune
