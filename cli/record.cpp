#include "cli/record.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

#include "cli/describe.hpp"
#include "cli/table.hpp"
#include "kolmo/base/utc.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/json.hpp"
#include "kolmo/io/record_text.hpp"
#include "kolmo/op/source_hash.hpp"
#include "kolmo/version.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The last validation of an operator on a GPU, as a record tells it.
struct Verified {
  std::string date, hash, file;
  bool passed;
};

void read_record(const std::filesystem::path& file, std::map<std::string, Verified>& latest) {
  constexpr std::uint64_t most = 64 << 20;
  const Json record = parse_json<Json>(read_regular(file.string(), most), file.string());
  try {
    if (!record.is_object() || record.value("kind", Json()) != "validate") return;
    const std::string device = record.at("device").at("device");
    if (!device.starts_with("cuda")) return;
    for (const Json& op : record.at("ops")) {
      Verified v{record.at("date"), op.at("cuda_sources"), file.filename().string(), true};
      for (const Json& result : op.at("results"))  // of a variant, or by --details of a check
        v.passed &= result.contains("ok") ? result["ok"].get<bool>() : result.at("failed") == 0;
      Verified& slot = latest[op.at("name")];
      if (slot.date <= v.date) slot = v;
    }
  } catch (const Json::exception& e) {
    fail<InvalidArgument>(file.string() + ": is no record: " + e.what());
  }
}

}  // namespace

Record::Record(std::string_view kind, Device device, const std::string& command_line) {
  const DeviceInfo info = device_info(device);
  json_ = {{"kolmo_version", version()},
           {"commit", commit()},
           {"date", utc_now()},
           {"device", device_json(info)},
           {"driver", info.driver},
           {"command", command_line},
           {"kind", kind},
           {"ops", Json::array()}};
}

void Record::add(const OpEntry& entry, Json results) {
  json_["ops"].push_back({{"name", entry.name()},
                          {"cuda_sources", source_hash(entry.op->name, DeviceKind::cuda)},
                          {"results", std::move(results)}});
}

void Record::set_peaks(const DeviceInfo& device) { json_["device"] = device_json(device); }

void Record::write(const std::string& file) const { write_file(file, record_text(json_)); }

void list_unverified(const std::string& folder, bool json) {
  std::map<std::string, Verified> latest;
  if (std::filesystem::exists(folder)) {
    if (!std::filesystem::is_directory(folder)) fail<InvalidArgument>(folder + ": is not a folder");
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder))
      if (file.path().extension() == ".json") read_record(file.path(), latest);
  }
  Json all = Json::array();
  TextTable table({"operator", "on a GPU"});
  std::size_t total = 0;
  for (const OpEntry& e : all_ops()) {
    const std::string name(e.op->name);
    if (source_hash(name, DeviceKind::cuda).empty()) continue;
    ++total;
    const auto found = latest.find(name);
    std::string state;
    if (found == latest.end())
      state = "never validated";
    else if (!found->second.passed)
      state = "failed when last validated, " + found->second.date;
    else if (found->second.hash != source_hash(name, DeviceKind::cuda))
      state = "sources changed since " + found->second.date;
    else
      continue;
    all.push_back({{"name", name}, {"state", state}});
    table.add({name, state});
  }
  if (json) {
    std::cout << all.dump(2) << '\n';
    return;
  }
  if (!table.empty()) table.print(std::cout);
  std::cout << all.size() << " of " << total
            << " operators with CUDA sources are not validated as they are now\n";
}

}  // namespace kolmo::cli
