#include "kolmo/tune/store.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/tune/store_files.hpp"

namespace kolmo::tune {
namespace fs = std::filesystem;
namespace {

constexpr const char* untuned = ".untuned";

void check_name(const std::string& kernel) {
  const bool plain =
      !kernel.empty() && kernel.size() <= 100 && kernel[0] != '.' &&
      kernel.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
          std::string::npos;
  require(plain, "tune: '" + kernel + "' cannot be the name of a folder: letters, digits, _ . - only");
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail<InvalidArgument>(file_label(folder.string()) + ": cannot be made: " + error.message());
}

bool is_real_folder(const fs::path& folder) {
  std::error_code error;
  return fs::symlink_status(folder, error).type() == fs::file_type::directory;
}

void check_writable(const std::string& folder) {
  const std::string probe = folder + "/.writable." + std::to_string(::getpid()) + ".tmp";
  write_file(probe, "", Existing::replaced);
  std::error_code error;
  fs::remove(probe, error);
}

/// Reads a folder's manifest, which holds the data from which the folder's name was computed.
std::optional<Environment> manifest_of(const fs::path& folder) {
  const auto text = !is_real_folder(folder) ? std::nullopt : read_small((folder / "manifest.json").string());
  if (!text) return {};
  try {
    Environment e = parse_environment(*text);
    if (e.id() == folder.filename()) return e;
  } catch (const InvalidArgument&) {}
  return {};
}

}  // namespace

std::string read_profile_text(const std::string& file) {
  constexpr std::uint64_t most = 4 << 20;
  return read_regular(file, most, Links::refused);
}

std::optional<std::string> read_small(const std::string& file) {
  try {
    return read_profile_text(file);
  } catch (const Error&) {
    return {};
  }
}

bool newer_schema(const std::string& file) {
  const auto text = read_small(file);
  if (!text) return false;
  const auto at = text->find("\"schema\":");
  return at != std::string::npos && std::atoi(text->c_str() + at + 9) > schema;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> all;
  if (!is_real_folder(folder)) return all;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error))
    all.push_back(i->path());
  std::sort(all.begin(), all.end());
  return all;
}

Store::Store(std::string root) : root_(std::move(root)) {
  require(!root_.empty(), "tune: the store needs a folder");
}

std::string Store::default_root() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (auto own = variable("KOLMO_TUNING"); !own.empty()) return own;
  if (auto cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache + "/kolmo/tuning";
  const auto home = variable("HOME");
  return (home.empty() ? "/var/cache" : home + "/.cache") + "/kolmo/tuning";
}

Store Store::writable_default() {
  Store store(default_root());
  require(store.root() != "off", "tune: tuning is off ($KOLMO_TUNING)");
  store.require_writable();
  return store;
}

std::string Store::folder(const Environment& e) const { return root_ + "/v1/" + e.id(); }
std::string Store::file(const Environment& e, const Key& key) const {
  check_name(key.kernel);
  return folder(e) + "/" + key.kernel + "/" + key.id() + ".json";
}

void Store::make_own_folder(const Environment& e, const std::string& name) const {
  const std::string own = folder(e);
  make_folder(root_ + "/v1");
  for (const fs::path& each : {fs::path(root_) / "v1", fs::path(own), fs::path(own) / name}) {
    if (fs::is_symlink(each))
      fail<InvalidArgument>(file_label(each.string()) + ": is a symbolic link, which is not followed here");
    make_folder(each);
  }
}

void Store::put_manifest(const Environment& e) const {
  if (!manifest_of(folder(e))) write_file(folder(e) + "/manifest.json", to_json(e), Existing::replaced);
}

void Store::require_writable() const {
  make_folder(root_ + "/v1");
  check_writable(root_ + "/v1");
}

void Store::require_writable(const Environment& e, const Key& key) const {
  const std::string path = file(e, key);
  if (newer_schema(path)) fail<InvalidArgument>(path + ": was written by a newer Kolmo and is left alone");
  make_own_folder(e, key.kernel);
  check_writable(folder(e) + "/" + key.kernel);
  put_manifest(e);
}

void Store::put(const Environment& e, const Profile& profile) {
  const std::string path = file(e, profile.key);
  if (newer_schema(path)) fail<InvalidArgument>(path + ": was written by a newer Kolmo and is left alone");
  make_own_folder(e, profile.key.kernel);
  put_manifest(e);
  write_file(path, to_json(profile), Existing::replaced);
}

std::optional<Profile> Store::get(const Environment& e, const Key& key) const {
  if (!is_real_folder(folder(e)) || !is_real_folder(fs::path(file(e, key)).parent_path())) return {};
  const auto text = read_small(file(e, key));
  if (!text) return {};
  try {
    Profile p = parse_profile(*text);
    if (p.key == key) return p;
  } catch (const InvalidArgument&) {}
  return {};
}

Origin Store::origin(const Environment& here, const Environment& other) {
  if (here == other) return Origin::exact;
  if (here.kind != other.kind || here.capability != other.capability || here.mode != other.mode)
    return Origin::none;
  return here.device == other.device && here.processors == other.processors &&
                 here.power_limit_watts == other.power_limit_watts
             ? Origin::foreign
             : Origin::capability;
}

std::optional<Store::Hit> Store::find(const Environment& here, const Key& key) const {
  std::optional<Hit> best;
  for (const fs::path& folder : entries_of(root_ + "/v1")) {
    const auto e = manifest_of(folder);
    const Origin o = e ? origin(here, *e) : Origin::none;
    if (o == Origin::none || (best && best->origin < o)) continue;
    auto p = get(*e, key);
    if (p && (!best || o < best->origin || p->created > best->profile.created)) best = Hit{std::move(*p), o};
  }
  return best;
}

std::vector<Store::Found> Store::all(
    const std::function<void(const std::string&, const std::string&)>& invalid) const {
  const auto complain = [&](const fs::path& file, const std::string& why) {
    if (invalid) invalid(file.string(), why);
  };
  std::vector<Found> found;
  for (const fs::path& folder : entries_of(root_ + "/v1")) {
    const auto e = manifest_of(folder);
    for (const fs::path& kernel : entries_of(folder)) {
      if (kernel.filename().string()[0] == '.') continue;
      for (const fs::path& file : entries_of(kernel)) {
        try {
          if (!e) fail<InvalidArgument>("its folder has no manifest, or one that is not its own");
          if (file.extension() != ".json") fail<InvalidArgument>("is not a profile");
          Profile p = parse_profile(read_profile_text(file.string()));
          if (p.key.kernel != kernel.filename() || p.key.id() + ".json" != file.filename())
            fail<InvalidArgument>("does not belong to the key that its name says");
          found.push_back({*e, std::move(p)});
        } catch (const InvalidArgument& error) {
          const std::string why = error.what(), named = file_label(file.string()) + ": ";
          complain(file, why.starts_with(named) ? why.substr(named.size()) : why);
        }
      }
    }
  }
  return found;
}

void Store::add_miss(const Environment& e, const Miss& miss) {
  check_name(miss.key.kernel);
  make_own_folder(e, untuned);
  put_manifest(e);
  write_file(folder(e) + "/" + untuned + "/" + miss.key.id() + ".json", to_json(miss.key, miss.call),
             Existing::replaced);
}

void Store::remove_miss(const Environment& e, const Key& key) noexcept {
  std::error_code error;
  fs::remove(folder(e) + "/" + untuned + "/" + key.id() + ".json", error);
}

std::vector<Store::Miss> Store::misses(const Environment& e) const {
  std::vector<Miss> all;
  for (const fs::path& file : entries_of(folder(e) + "/" + untuned)) {
    const auto text = read_small(file.string());
    if (!text) continue;
    try {
      auto [key, call] = parse_miss(*text);
      if (key.id() + ".json" == file.filename()) all.push_back({std::move(key), std::move(call)});
    } catch (const InvalidArgument&) {}
  }
  return all;
}

}  // namespace kolmo::tune
