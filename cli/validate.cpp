#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <set>

#include "cli/commands.hpp"
#include "cli/describe.hpp"
#include "cli/files.hpp"
#include "cli/record.hpp"
#include "cli/selection.hpp"
#include "cli/table.hpp"
#include "kolmo/check/conformance.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ValidateFlags {
  Selection selection;
  DeviceOptions device;
  bool json = false, details = false, one_device = false;
  std::string record, unverified, aspect;
};

Json to_json(const check::Result& r) {
  Json j{{"case", r.case_name},
         {"device", r.device},
         {"variant", r.variant},
         {"aspect", r.aspect},
         {"ok", r.ok}};
  if (!r.ok) j["message"] = r.message;
  if (r.aspect == "result") j["max_error"] = r.max_error;
  return j;
}

struct Tally {
  std::size_t passed = 0, failed = 0;
  std::set<std::string> cases;
  double max_error = 0;
  void add(const check::Result& r) {
    ++(r.ok ? passed : failed);
    if (r.aspect == "result") cases.insert(r.case_name);
    max_error = std::max(max_error, r.max_error);
  }
};

/// An entry for each variant, with what failed of it.
Json by_variant(const std::vector<check::Result>& results) {
  std::map<std::string, std::pair<Tally, Json>> found;
  for (const check::Result& r : results) {
    auto& [tally, failures] = found[r.variant];
    tally.add(r);
    if (!r.ok) failures.push_back(to_json(r));
  }
  Json all = Json::array();
  for (const auto& [variant, of] : found) {
    const auto& [tally, failures] = of;
    all.push_back({{"variant", variant},
                   {"cases", tally.cases.size()},
                   {"passed", tally.passed},
                   {"failed", tally.failed},
                   {"max_error", tally.max_error}});
    if (!failures.empty()) all.back()["failures"] = failures;
  }
  return all;
}

Json one_by_one(const std::vector<check::Result>& results) {
  Json all = Json::array();
  for (const check::Result& r : results) all.push_back(to_json(r));
  return all;
}

/// The device that was asked for, or one of each kind that this machine has.
std::vector<Device> devices_to_check(const ValidateFlags& o) {
  if (o.one_device) return {parse_device(o.device.device)};
  std::vector<Device> all;
  for (const DeviceInfo& d : devices())
    if (all.empty() || all.back().kind != d.device.kind) all.push_back(d.device);
  return all;
}

/// Runs the checks of the operators on a device.
class Run {
 public:
  Run(Device device, const ValidateFlags& o, const std::string& command_line)
      : device_(device), o_(o), record_("validate", device, command_line) {}

  void check(const OpEntry& entry) {
    Tally tally;
    std::vector<check::Result> results;
    check::check_op(
        entry, device_, o_.device.threads > 0 ? o_.device.threads : 2,
        [&](const check::Result& r) {
          tally.add(r), total_.add(r);
          results.push_back(r);
          if (!r.ok && !o_.json)
            std::cout << paint(Color::red, "FAILED") << "  " << r.op << ", " << r.case_name
                      << (o_.one_device ? "" : ", " + r.device) << (r.variant.empty() ? "" : ", ")
                      << r.variant << ", " << r.aspect << ": " << r.message << std::endl;
        },
        o_.aspect);
    record_.add(entry, o_.details ? one_by_one(results) : by_variant(results));
    tallies_.emplace(&entry, std::move(tally));
  }
  void add_row(const OpEntry& entry, TextTable& table) const {
    const auto found = tallies_.find(&entry);
    if (found == tallies_.end()) return;
    const Tally& tally = found->second;
    std::vector<std::string> row = {std::string(entry.name())};
    if (!o_.one_device) row.push_back(to_string(device_));
    row.insert(row.end(), {std::to_string(tally.cases.size()), std::to_string(tally.passed),
                           tally.failed ? paint(Color::red, std::to_string(tally.failed)) : "0",
                           tally.max_error > 0 ? percent(tally.max_error, 2) : "exact"});
    table.add(std::move(row));
  }
  Device device() const { return device_; }
  bool emulated() const { return device_.kind == DeviceKind::simt; }
  const Tally& total() const { return total_; }
  const Record& record() const { return record_; }

 private:
  Device device_;
  const ValidateFlags& o_;
  Record record_;
  Tally total_;
  std::map<const OpEntry*, Tally> tallies_;
};

void print(const std::vector<Run>& runs, const std::vector<const OpEntry*>& entries, bool one_device) {
  std::vector<std::string> titles = {"operator"};
  if (!one_device) titles.emplace_back("device");
  titles.insert(titles.end(), {">cases", ">passed", ">failed", ">worst error / tolerance"});
  TextTable table(titles);
  for (const OpEntry* entry : entries)
    for (const Run& run : runs) run.add_row(*entry, table);
  table.print(std::cout);
  for (const Run& run : runs)
    std::cout << (one_device ? "" : to_string(run.device()) + ": ") << run.total().passed << " passed, "
              << run.total().failed << " failed" << (run.emulated() ? " (emulated)" : "") << '\n';
}

void validate(const ValidateFlags& o, Context& context) {
  if (!o.unverified.empty()) return list_unverified(o.unverified, o.json);
  const auto entries = o.selection.entries();
  const std::vector<Device> on = devices_to_check(o);
  require(o.record.empty() || on.size() == 1,
          "--record: keeps the results of one device; name it with --device");
  std::vector<Run> runs;
  bool failed = false, passed = false;
  for (const Device device : on) {
    DeviceOptions options = o.device;
    options.device = to_string(device);
    const Stream stream = runs.empty() ? options.open() : options.open_unmonitored();
    Run& run = runs.emplace_back(device, o, context.command_line);
    if (!o.json)
      std::cout << "device: " << describe(stream) << (run.emulated() ? ", results are emulated" : "")
                << std::endl;
    for (const OpEntry* entry : entries)
      if (o.one_device || entry->impl(device.kind)) run.check(*entry);
    failed |= run.total().failed > 0, passed |= run.total().passed > 0;
  }
  context.status = failed || !passed ? 1 : 0;
  if (!o.record.empty()) runs[0].record().write(o.record);
  if (!o.json) return print(runs, entries, o.one_device);
  Json records = Json::array();
  for (const Run& run : runs) records.push_back(run.record().json());
  std::cout << (o.one_device ? records[0] : records).dump(2) << '\n';
}

}  // namespace

void add_validate(CLI::App& app, Context& context) {
  static ValidateFlags o;
  auto* command =
      app.add_subcommand("validate", "Check operators against their oracles on every device, or on one");
  o.selection.add(*command);
  o.device.add(*command);
  command
      ->add_option(
          "--aspect", o.aspect,
          "of each case, only this: result, memory, workspace, repeat, stream, graph, arguments, ...; or "
          "reached: every variant fits a case")
      ->type_name("NAME");
  command->add_flag("--json", o.json, "print JSON; without --device, of a record for each device");
  command->add_flag("--details", o.details,
                    "in JSON and records: an entry for each check, not only for each variant");
  add_output(*command, "--record", o.record, "also write the results of the one device to this JSON file")
      ->type_name("FILE.json");
  command
      ->add_option("--unverified", o.unverified,
                   "instead list the operators whose CUDA sources differ from those in the latest records "
                   "here or below")
      ->type_name("FOLDER");
  command->footer(
      "Without --device: on the CPU, on the emulated GPU where this build has it, and on a GPU where there "
      "is one.\n"
      "Example:\n  kolmo validate vector_add --device simt\nStatus 1 if anything failed.");
  command->callback([&context, command] {
    o.one_device = command->count("--device") > 0;
    validate(o, context);
  });
}

}  // namespace kolmo::cli
