#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/occupancy_report.hpp"
#include "cli/selection.hpp"
#include "kolmo/check/placement.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/runtime/kernel_loader.hpp"
#include "kolmo/tune/launches.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

struct OccupancyFlags {
  Selection selection;
  std::vector<std::string> capabilities;
  std::string filter, table;
  int registers = -1, threads = 0, barriers = 0, processors = 0;
  std::size_t shared = 0;
  std::uint64_t grid = 0;
  bool json = false, verify = false;
};

/// Adds the launches of one call. Equal launches become one row.
void add_launches(std::vector<Row>& rows, const Row& like, const std::vector<Launch>& launches) {
  const std::size_t first = rows.size();
  for (const Launch& l : launches) {
    Row row = like;
    row.given = l.given, row.address = l.kernel;
    if (!l.given) row.symbol = tune::symbol_of(l.kernel);
    row.kernel = l.given ? l.given->name() : tune::short_name(row.symbol.name);
    row.grid = std::uint64_t(l.grid[0]) * l.grid[1] * l.grid[2];
    row.threads = int(l.block[0] * l.block[1] * l.block[2]);
    row.dynamic = l.shared;
    const auto same = std::find_if(rows.begin() + std::ptrdiff_t(first), rows.end(), [&](const Row& r) {
      return r.kernel == row.kernel && r.symbol.name == row.symbol.name && r.grid == row.grid &&
             r.threads == row.threads && r.dynamic == row.dynamic;
    });
    if (same == rows.end())
      rows.push_back(std::move(row));
    else
      ++same->times;
  }
}

/// The variants that fit the arguments, the default first. Variants of a vendor's library are left out, as it
/// may need a GPU to say whether it takes them.
std::vector<int> own_variants(const OpEntry& entry, const void* args, DeviceKind kind) {
  const auto rows = entry.variants(kind);
  const int first = entry.default_variant(args, kind);
  std::vector<int> all;
  if (first >= 0) all.push_back(first);
  for (int v = 0; v < int(rows.size()); ++v)
    if (v != first && !rows[std::size_t(v)].vendor && entry.fits(args, kind, v)) all.push_back(v);
  return all;
}

std::vector<Row> rows_of(const OpEntry& entry, std::size_t index) {
  const CaseInfo c = entry.op->cases()[index];
  const OpEntry name = entry.of(c);
  Stream stream = tune::launch_stream(entry);
  const DeviceKind kind = stream.device().kind;
  const check::Problem problem(*entry.op, c, index, 0);  // launches depend on the shapes alone
  check::Placement placed(problem, stream);
  std::vector<Row> rows;
  for (const int v : own_variants(name, placed.args(), kind)) {
    const Row like{
        std::string(name.name()), std::string(c.name), std::string(entry.impl(kind)->rows()[v].name), {}, {}};
    add_launches(rows, like, tune::launches_of(entry, placed.args(), v, stream));
  }
  return rows;
}

/// The selected cases; by default the last case of the operator and of each of its aliases.
std::vector<std::size_t> cases_of(const OpEntry& entry, const OccupancyFlags& o) {
  std::vector<std::size_t> all = chosen_cases(entry, o.filter);
  std::map<std::string_view, std::size_t> last;
  const auto cases = entry.op->cases();
  for (const std::size_t i : all) last[entry.of(cases[i]).name()] = i;
  if (o.filter.empty())
    std::erase_if(all, [&](std::size_t i) { return last.at(entry.of(cases[i]).name()) != i; });
  return all;
}

std::vector<Row> operator_rows(const OccupancyFlags& o) {
  std::vector<Row> rows;
  bool kernels = false;
  const auto entries = o.selection.entries();
  require_case(entries, o.filter);
  for (const OpEntry* entry : entries) {
    if (!entry->impl(DeviceKind::cuda) && !entry->impl(DeviceKind::simt)) continue;
    kernels = true;
    for (const std::size_t i : cases_of(*entry, o))
      for (Row& row : rows_of(*entry, i)) rows.push_back(std::move(row));
  }
  if (rows.empty())
    fail<InvalidArgument>("occupancy: the operators and cases asked for launch no kernel" +
                          std::string(kernels ? "" : " in this build, which was made without nvcc"));
  return rows;
}

/// The selected capabilities without duplicates; by default `all`.
std::vector<const tune::Multiprocessor*> capabilities(const OccupancyFlags& o,
                                                      const std::vector<std::string>& all) {
  std::vector<const tune::Multiprocessor*> chosen;
  for (const std::string& c : o.capabilities.empty() ? all : o.capabilities) {
    const auto* m = &tune::multiprocessor(c);
    if (std::find(chosen.begin(), chosen.end(), m) == chosen.end()) chosen.push_back(m);
  }
  return chosen;
}

/// The resources of a kernel as the compiler printed them. Throws Unsupported if they are not known.
tune::KernelResources resources_of(const OccupancyFlags& o, const Row& row, const std::string& capability,
                                   const tune::ResourceTable& table) {
  if (row.given) {
    const tune::ResourceTable own(row.given->compiler_log(capability));
    if (own.kernels().empty())
      fail<Unsupported>("occupancy: " + row.op + ": kernel '" + row.kernel +
                        "' was given compiled, so what it takes is not known");
    return own.kernels().back();
  }
  if (const tune::KernelResources* k = table.find(row.symbol, capability)) return *k;
  if (row.kernel.empty())
    fail<Unsupported>("occupancy: kernels are found by their symbols, and this program's were stripped");
  const std::string from = o.table.empty() ? "this build" : o.table;
  std::string known;
  for (const std::string& c : table.capabilities()) known += (known.empty() ? "" : ", ") + c;
  fail<Unsupported>("occupancy: " + row.op + ": " + from + " has no kernel " + row.kernel + " for " +
                    capability +
                    (known.empty() ? ", it was made without nvcc" : "; it has kernels for " + known) +
                    "; cmake --build BUILD --target kolmo_resources makes a --table for all capabilities");
}

std::vector<Finding> of_numbers(const OccupancyFlags& o, Row& row) {
  row.threads = o.threads, row.grid = o.grid;
  tune::KernelResources kernel;
  kernel.registers = o.registers, kernel.shared = o.shared, kernel.barriers = o.barriers;
  std::vector<std::string> all;
  for (const tune::Multiprocessor& m : tune::multiprocessors()) all.emplace_back(m.capability);
  std::vector<Finding> findings;
  for (const tune::Multiprocessor* on : capabilities(o, all))
    findings.push_back(look(row, *on, kernel, o.processors));
  return findings;
}

/// Analyses every kernel of a table at one block size.
std::vector<Finding> of_table(const OccupancyFlags& o, const tune::ResourceTable& table,
                              std::vector<Row>& rows) {
  rows.reserve(table.kernels().size());
  std::vector<Finding> findings;
  for (const tune::Multiprocessor* on : capabilities(o, table.capabilities()))
    for (const tune::KernelResources& k : table.kernels()) {
      if (k.capability != on->capability) continue;
      Row row;
      row.kernel = tune::short_name(k.entry), row.threads = o.threads, row.dynamic = o.shared;
      row.grid = o.grid;
      rows.push_back(std::move(row));
      findings.push_back(look(rows.back(), *on, k, o.processors));
    }
  if (findings.empty())
    fail<Unsupported>("occupancy: the table has no kernel for the capabilities asked for");
  return findings;
}

std::vector<Finding> of_operators(const OccupancyFlags& o, const tune::ResourceTable& table,
                                  std::vector<Row>& rows) {
  const auto devices = capabilities(o, table.capabilities());
  rows = operator_rows(o);
  std::vector<Finding> findings;
  for (const tune::Multiprocessor* on : devices)
    for (const Row& row : rows)
      findings.push_back(
          look(row, *on, resources_of(o, row, std::string(on->capability), table), o.processors));
  return findings;
}

/// Compares the findings with what a GPU's driver says, and prints differences to standard error. Returns
/// true if there are none.
bool verified(const std::vector<Finding>& findings, Device device) {
  const tune::Multiprocessor& on = *findings[0].on;
  int differences = 0, compared = 0;
  const auto same = [&](const std::string& what, std::size_t here, std::size_t driver) {
    if (here == driver) return;
    ++differences;
    std::cerr << "kolmo: occupancy: " << what << " is " << here << ", the driver says " << driver << '\n';
  };
  const MultiprocessorFacts limits = driver_facts(device);
  same("threads of a multiprocessor", 32 * std::size_t(on.warps), std::size_t(limits.threads));
  same("blocks of a multiprocessor", std::size_t(on.blocks), std::size_t(limits.blocks));
  same("registers of a multiprocessor", 65536, std::size_t(limits.registers));
  same("shared memory of a multiprocessor", on.shared, limits.shared);
  same("shared memory of a block", on.shared_per_block, limits.shared_per_block);
  same("shared memory the driver keeps", 1024, limits.shared_reserved);
  for (const Finding& f : findings) {
    if (!f.row->address) continue;
    const std::string kernel = f.row->op + ", " + f.row->variant + ", " + f.row->kernel + ": ";
    const auto facts = driver_facts(f.row->address, f.row->threads, f.row->dynamic, device);
    if (!facts) continue;  // the driver does not know the kernel
    same(kernel + "registers", std::size_t(f.kernel.registers), std::size_t(facts->registers));
    same(kernel + "static shared memory", f.kernel.shared, facts->shared);
    same(kernel + "blocks", std::size_t(f.occupancy.blocks), std::size_t(facts->blocks));
    ++compared;
  }
  std::cerr << "kolmo: occupancy: " << compared << " kernels compared with the driver of "
            << to_string(device) << ", " << differences << " differences\n";
  return differences == 0 && compared > 0;
}

/// Says what is analysed: a launch given by numbers, the kernels of a table, or operators.
enum class Subject { numbers, table, operators };

Subject subject_of(const OccupancyFlags& o) {
  const auto refuse = [](bool wrong, const char* why) {
    if (wrong) fail<InvalidArgument>(std::string("occupancy: ") + why);
  };
  const bool operators = !o.selection.names.empty() || !o.selection.group.empty() || !o.filter.empty();
  const bool launch = o.threads || o.shared || o.grid;
  refuse(o.verify && (o.registers >= 0 || launch || !o.table.empty() || !o.capabilities.empty()),
         "--verify is for the operators of this build on cuda:0");
  refuse(o.barriers && o.registers < 0, "--barriers needs --registers");
  refuse(o.registers >= 0 && (operators || !o.table.empty()),
         "--registers describes a kernel, so no operator, --case or --table is given with it");
  refuse(o.registers >= 0 && !o.threads, "--registers needs --threads");
  if (o.registers >= 0) return Subject::numbers;
  refuse(operators && launch, "operators say themselves how they launch: no --threads, --shared or --grid");
  refuse(launch && !o.threads, "--shared and --grid need --threads");
  return o.threads ? Subject::table : Subject::operators;
}

std::vector<Finding> look_at(Subject subject, const OccupancyFlags& o, std::vector<Row>& rows) {
  if (subject == Subject::numbers) return of_numbers(o, rows.emplace_back());
  const tune::ResourceTable file(o.table.empty() ? "" : read_file(o.table));
  const tune::ResourceTable& table = o.table.empty() ? tune::built_resources() : file;
  if (table.kernels().empty() && !o.table.empty())
    fail<Unsupported>("occupancy: " + o.table + " has no line of nvcc -Xptxas -v");
  if (table.kernels().empty() && (o.capabilities.empty() || subject == Subject::table))
    fail<Unsupported>(
        "occupancy: this build was made without nvcc and does not know what kernels take; "
        "give --table FILE, or --registers and --threads");
  return subject == Subject::table ? of_table(o, table, rows) : of_operators(o, table, rows);
}

void run(OccupancyFlags o, Context& context) {
  const Device gpu{DeviceKind::cuda, 0};
  std::vector<Row> rows;
  const Subject subject = subject_of(o);
  if (o.verify) o.capabilities = {device_info(gpu).capability};
  const std::vector<Finding> findings = look_at(subject, o, rows);
  if (o.verify && !verified(findings, gpu)) context.status = 1;
  if (!o.json) return print(findings);
  Json all = Json::array();
  for (const Finding& f : findings) all.push_back(to_json(f));
  std::cout << all.dump(2) << '\n';
}

}  // namespace

void add_occupancy(CLI::App& app, Context& context) {
  static OccupancyFlags o;
  auto* command = app.add_subcommand(
      "occupancy", "How full kernels make a GPU, what limits them, and what one more block would cost");
  o.selection.add(*command);
  command
      ->add_option("--case", o.filter,
                   "cases with this text in their name; default the last of each operator")
      ->type_name("TEXT");
  command
      ->add_option("--capability", o.capabilities,
                   "compute capabilities, e.g. 8.0,9.0; default all there are")
      ->delimiter(',')
      ->type_name("C");
  add_input(*command, "--table", o.table, "what nvcc -Xptxas -v printed, instead of what this build knows")
      ->type_name("FILE");
  command->add_option("--processors", o.processors, "multiprocessors of the GPU, for waves")
      ->check(CLI::Range(1, 100000))
      ->type_name("N");
  command->add_option("--registers", o.registers, "of a kernel described by numbers: registers per thread")
      ->check(CLI::Range(0, 255))
      ->type_name("R");
  command
      ->add_option("--threads", o.threads,
                   "threads per block; without --registers: of every kernel in the table")
      ->check(CLI::Range(1, 1024))
      ->type_name("T");
  command
      ->add_option("--shared", o.shared, "bytes of shared memory per block; beside a table: the dynamic ones")
      ->type_name("S");
  command->add_option("--barriers", o.barriers, "named barriers per block")
      ->check(CLI::Range(0, 16))
      ->type_name("B");
  command->add_option("--grid", o.grid, "blocks of the launch, for waves")->type_name("G");
  command->add_flag("--verify", o.verify, "compare everything with what the driver of cuda:0 says");
  command->add_flag("--json", o.json, "print JSON");
  command->footer(
      "Examples:\n  kolmo occupancy --registers 48 --shared 8448 --threads 256 --capability 9.0\n"
      "  kolmo occupancy vector_add --capability 9.0\n"
      "  nvcc -Xptxas -v -arch=sm_90 -c mine.cu 2> mine.txt && kolmo occupancy --table mine.txt --threads "
      "256");
  command->callback([&context] { run(o, context); });
}

}  // namespace kolmo::cli
