#include "kolmo/tune/store.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "kolmo/io/atomic_file.hpp"
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

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail<InvalidArgument>(folder + ": cannot be made: " + error.message());
}

/// A manifest says what its folder's name was computed from.
std::optional<Environment> manifest_of(const fs::path& folder) {
  const auto text = read_small((folder / "manifest.json").string());
  if (!text) return {};
  try {
    Environment e = parse_environment(*text);
    if (e.id() == folder.filename()) return e;
  } catch (const InvalidArgument&) {}
  return {};
}

}  // namespace

std::optional<std::string> read_small(const std::string& file) {
  constexpr std::streamsize most = 4 << 20;
  std::ifstream in(file, std::ios::binary);
  if (!in) return {};
  std::string text;
  for (char block[65536]; in.read(block, sizeof block), in.gcount() > 0;) {
    text.append(block, std::size_t(in.gcount()));
    if (std::streamsize(text.size()) > most) return {};
  }
  return in.bad() ? std::nullopt : std::optional(std::move(text));
}

bool newer_schema(const std::string& file) {
  const auto text = read_small(file);
  if (!text) return false;
  const auto at = text->find("\"schema\":");
  return at != std::string::npos && std::atoi(text->c_str() + at + 9) > schema;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> all;
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

std::string Store::folder(const Environment& e) const { return root_ + "/v1/" + e.id(); }
std::string Store::file(const Environment& e, const Key& key) const {
  check_name(key.kernel);
  return folder(e) + "/" + key.kernel + "/" + key.id() + ".json";
}

void Store::require_writable() const {
  const std::string probe = root_ + "/v1/.writable." + std::to_string(::getpid());
  make_folder(root_ + "/v1");
  write_file(probe, "");
  std::error_code error;
  fs::remove(probe, error);
}

void Store::put(const Environment& e, const Profile& profile) {
  const std::string path = file(e, profile.key);
  if (newer_schema(path)) fail<InvalidArgument>(path + ": was written by a newer Kolmo and is left alone");
  make_folder(folder(e) + "/" + profile.key.kernel);
  if (!manifest_of(folder(e))) write_file(folder(e) + "/manifest.json", to_json(e));
  write_file(path, to_json(profile));
}

std::optional<Profile> Store::get(const Environment& e, const Key& key) const {
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
      if (kernel.filename().string()[0] == '.' || !fs::is_directory(kernel)) continue;
      for (const fs::path& file : entries_of(kernel)) {
        const auto text = file.extension() == ".json" ? read_small(file.string()) : std::nullopt;
        try {
          if (!e) fail<InvalidArgument>("its folder has no manifest, or one that is not its own");
          if (!text) fail<InvalidArgument>("is not a profile or cannot be read");
          Profile p = parse_profile(*text);
          if (p.key.kernel != kernel.filename() || p.key.id() + ".json" != file.filename())
            fail<InvalidArgument>("does not belong to the key that its name says");
          found.push_back({*e, std::move(p)});
        } catch (const InvalidArgument& error) {
          complain(file, error.what());
        }
      }
    }
  }
  return found;
}

void Store::add_miss(const Environment& e, const Key& key) {
  check_name(key.kernel);
  const std::string folder = this->folder(e) + "/" + untuned;
  make_folder(folder);
  if (!manifest_of(this->folder(e))) write_file(this->folder(e) + "/manifest.json", to_json(e));
  write_file(folder + "/" + key.id() + ".json", to_json(key));
}

void Store::remove_miss(const Environment& e, const Key& key) noexcept {
  std::error_code error;
  fs::remove(folder(e) + "/" + untuned + "/" + key.id() + ".json", error);
}

std::vector<Key> Store::misses(const Environment& e) const {
  std::vector<Key> all;
  for (const fs::path& file : entries_of(folder(e) + "/" + untuned)) {
    const auto text = read_small(file.string());
    if (!text) continue;
    try {
      Key key = parse_key(*text);
      if (key.id() + ".json" == file.filename()) all.push_back(std::move(key));
    } catch (const InvalidArgument&) {}
  }
  return all;
}

}  // namespace kolmo::tune
