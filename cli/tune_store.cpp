#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/table.hpp"
#include "cli/tune.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

void list(const TuneCommand& o, const tune::Store& store) {
  Json invalid = Json::array(), all = Json::array();
  TextTable table(
      {"operator", "device", "dtype", "sizes up to", "configuration", ">time", ">speed-up", "state"});
  const std::int64_t now = std::time(nullptr);
  const auto found = store.all([&](const std::string& file, const std::string& why) {
    invalid.push_back({{"file", file}, {"why", why}});
  });
  for (const auto& [environment, profile] : found) {
    const auto& w = profile.winning();
    const std::string state = profile.stale ? "stale" : profile.expires < now ? "expired" : "valid";
    table.add({profile.key.kernel, printable(environment.device), printable(profile.key.dtype),
               printable(sizes_of(profile.key)), printable(w.label), duration(w.finding.seconds.median),
               significant(w.finding.gain.median, 3), state});
    Json j = Json::parse(tune::to_json(profile));
    j["environment"] = Json::parse(tune::to_json(environment));
    all.push_back(std::move(j));
  }
  if (o.json) {
    std::cout << Json{{"store", store.root()}, {"profiles", all}, {"invalid", invalid}}.dump(2) << '\n';
    return;
  }
  if (!table.empty()) table.print(std::cout);
  std::cout << found.size() << " results in " << store.root() << '\n';
  for (const Json& i : invalid)
    std::cout << "ignored: " << printable(i["file"].get<std::string>(), 4096) << ": "
              << printable(i["why"].get<std::string>(), 4096) << '\n';
}

}  // namespace

std::string sizes_of(const tune::Key& key) {
  std::string text;
  for (const tune::Key::Dim& d : key.dims)
    text += (text.empty() ? "" : " ") + d.name + "=" + std::to_string(d.bucket.high);
  return text;
}

void manage_store(const TuneCommand& o, tune::Store& store) {
  if (o.list) return list(o, store);
  Json j;
  std::string text;
  if (!o.export_to.empty()) {
    const std::size_t n = store.export_to(o.export_to);
    j = {{"exported", n}};
    text = std::to_string(n) + " results written to " + o.export_to;
  } else if (!o.import_from.empty()) {
    const std::size_t n = store.import_from(o.import_from);
    j = {{"imported", n}};
    text = std::to_string(n) + " results taken from " + o.import_from + " into " + store.root();
  } else {
    const auto c = store.collect(o.keep);
    j = {{"removed_files", c.files}, {"removed_bytes", c.bytes}, {"kept_bytes", c.kept}};
    text = std::to_string(c.files) + " files with " + std::to_string(c.bytes) + " bytes removed, " +
           std::to_string(c.kept) + " bytes kept";
  }
  if (o.json)
    std::cout << j.dump(2) << '\n';
  else if (o.export_to != "-")
    std::cout << text << '\n';
}

}  // namespace kolmo::cli
