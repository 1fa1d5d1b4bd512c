#include <CLI/CLI.hpp>
#include <iostream>
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
  bool json = false;
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

void validate(const ValidateFlags& o, Context& context) {
  if (!o.unverified.empty()) return list_unverified(o.unverified, o.json);
  const auto entries = o.selection.entries();
  const Stream stream = o.device.open();
  const int threads = o.device.threads > 0 ? o.device.threads : 2;
  const bool emulated = stream.device().kind == DeviceKind::simt;
  if (!o.json)
    std::cout << "device: " << describe(stream) << (emulated ? ", results are emulated" : "") << std::endl;
  Record record("validate", stream.device(), context.command_line);
  Tally total;
  TextTable table({"operator", ">cases", ">passed", ">failed", ">worst error / tolerance"});
  for (const OpEntry* entry : entries) {
    Tally tally;
    Json results = Json::array();
    check::check_op(
        *entry, stream.device(), threads,
        [&](const check::Result& r) {
          tally.add(r), total.add(r);
          results.push_back(to_json(r));
          if (!r.ok && !o.json)
            std::cout << paint(Color::red, "FAILED") << "  " << r.op << ", " << r.case_name
                      << (r.variant.empty() ? "" : ", ") << r.variant << ", " << r.aspect << ": " << r.message
                      << std::endl;
        },
        o.aspect);
    record.add(*entry, std::move(results));
    table.add({std::string(entry->name()), std::to_string(tally.cases.size()), std::to_string(tally.passed),
               tally.failed ? paint(Color::red, std::to_string(tally.failed)) : "0",
               tally.max_error > 0 ? significant(100 * tally.max_error, 2) + " %" : "exact"});
  }
  if (o.json)
    std::cout << record.json().dump(2) << '\n';
  else
    table.print(std::cout);
  if (!o.record.empty()) record.write(o.record);
  if (!o.json)
    std::cout << total.passed << " passed, " << total.failed << " failed" << (emulated ? " (emulated)" : "")
              << '\n';
  context.status = total.failed || !total.passed ? 1 : 0;
}

}  // namespace

void add_validate(CLI::App& app, Context& context) {
  static ValidateFlags o;
  auto* command = app.add_subcommand("validate", "Check operators against their oracles on a device");
  o.selection.add(*command);
  o.device.add(*command);
  command
      ->add_option(
          "--aspect", o.aspect,
          "of each case, only this: result, memory, workspace, repeat, stream, graph, arguments, ...; or "
          "reached: every variant fits a case")
      ->type_name("NAME");
  command->add_flag("--json", o.json, "print JSON");
  add_output(*command, "--record", o.record, "also write the results to this JSON file")
      ->type_name("FILE.json");
  command
      ->add_option(
          "--unverified", o.unverified,
          "instead list the operators whose CUDA sources differ from those in the latest records here")
      ->type_name("FOLDER");
  command->footer("Example:\n  kolmo validate vector_add --device simt\nStatus 1 if anything failed.");
  command->callback([&context] { validate(o, context); });
}

}  // namespace kolmo::cli
