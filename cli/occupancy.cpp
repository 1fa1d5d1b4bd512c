#include "kolmo/tune/occupancy.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/selection.hpp"
#include "cli/table.hpp"
#include "kolmo/check/placement.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/tune/kernel_resources.hpp"
#include "kolmo/tune/launches.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  Selection selection;
  std::vector<std::string> capabilities;
  std::string filter, table;
  int registers = -1, threads = 0, barriers = 0, processors = 0;
  std::size_t shared = 0;
  std::uint64_t grid = 0;
  bool json = false;
};

/// A launch to be looked at on every capability.
struct Row {
  std::string op, case_name, variant, kernel;
  tune::Symbol symbol;
  std::uint64_t grid = 0;
  int threads = 0;
  std::size_t dynamic = 0;
  int times = 1;
};

/// The same with what the compiler made of it for one capability.
struct Finding {
  const Row* row;
  const tune::Multiprocessor* on;
  tune::KernelResources kernel;
  tune::Occupancy occupancy;
  tune::Waves waves;
};

int processors(const Options& o, const tune::Multiprocessor& on) {
  return o.processors ? o.processors : on.count;
}

Finding look(const Options& o, const Row& row, const tune::Multiprocessor& on,
             const tune::KernelResources& k) {
  const tune::Resources r{row.threads, k.registers, k.shared + row.dynamic, k.barriers};
  Finding f{&row, &on, k, tune::occupancy(on, r), {}};
  f.waves = tune::waves(row.grid, f.occupancy, processors(o, on));
  return f;
}

std::string joined(const std::vector<std::string_view>& parts) {
  std::string all;
  for (const auto part : parts) all += (all.empty() ? "" : ", ") + std::string(part);
  return all;
}

std::string savings_text(const tune::Savings& s) {
  std::vector<std::string> parts;
  if (s.registers) parts.push_back("-" + std::to_string(s.registers) + " registers");
  if (s.shared) parts.push_back("-" + std::to_string(s.shared) + " B shared");
  if (s.barriers) parts.push_back("-" + std::to_string(s.barriers) + " barriers");
  return s.possible ? joined({parts.begin(), parts.end()}) : "-";
}

Json to_json(const Options& o, const Finding& f) {
  const Row& row = *f.row;
  const tune::Occupancy& occupancy = f.occupancy;
  Json j{{"capability", f.on->capability}};
  if (!row.op.empty())
    j["operator"] = row.op, j["case"] = row.case_name, j["variant"] = row.variant, j["launches"] = row.times;
  if (!row.kernel.empty()) {
    j["kernel"] = row.kernel, j["entry"] = f.kernel.entry, j["stack_bytes"] = f.kernel.stack;
    j["spill_store_bytes"] = f.kernel.spill_stores, j["spill_load_bytes"] = f.kernel.spill_loads;
  }
  j["threads"] = row.threads, j["registers"] = f.kernel.registers;
  j["static_shared_bytes"] = f.kernel.shared, j["dynamic_shared_bytes"] = row.dynamic;
  j["barriers"] = f.kernel.barriers;
  j["blocks"] = occupancy.blocks, j["warps"] = occupancy.warps, j["occupancy"] = occupancy.ratio;
  j["limits"] = occupancy.limits();
  for (std::size_t l = 0; l < tune::limit_names.size(); ++l)
    j["blocks_by"][std::string(tune::limit_names[l])] =
        occupancy.blocks_by[l] == INT_MAX ? Json() : Json(occupancy.blocks_by[l]);
  const tune::Savings& s = occupancy.one_more_block;
  j["one_more_block"] = s.possible ? Json{{"fewer_registers", s.registers},
                                          {"fewer_shared_bytes", s.shared},
                                          {"fewer_barriers", s.barriers}}
                                   : Json();
  if (row.grid) {
    j["grid"] = row.grid, j["multiprocessors"] = processors(o, *f.on);
    j["waves"] = f.waves.waves, j["wave_efficiency"] = f.waves.efficiency;
  }
  return j;
}

void print_heading(const Options& o, const tune::Multiprocessor& on) {
  std::cout << paint(Color::bold, "capability " + std::string(on.capability)) << ", ";
  if (o.processors)
    std::cout << o.processors << " multiprocessors\n";
  else
    std::cout << "e.g. " << on.gpu << " with " << on.count << " multiprocessors\n";
}

void print(const Options& o, const std::vector<Finding>& findings) {
  const auto have = [&](auto part) { return std::any_of(findings.begin(), findings.end(), part); };
  const bool ops = have([](const Finding& f) { return !f.row->op.empty(); });
  const bool kernels = have([](const Finding& f) { return !f.row->kernel.empty(); });
  const bool grids = have([](const Finding& f) { return f.row->grid != 0; });
  const bool numbers = !ops && !kernels;  // one launch on several capabilities
  std::vector<std::string> titles;
  const auto add = [](std::vector<std::string>& to, const std::vector<std::string>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  if (numbers) add(titles, {"capability", "e.g."});
  if (ops) add(titles, {"operator", "case", "variant"});
  if (kernels) add(titles, {"kernel"});
  add(titles, {">threads", ">registers", ">shared B", ">barriers"});
  if (kernels) add(titles, {">spilled B"});
  add(titles, {">blocks", ">warps", ">occupancy", "limited by", "one more block"});
  if (grids) add(titles, {">grid", ">waves", ">efficiency"});

  const tune::Multiprocessor* on = nullptr;
  for (std::size_t i = 0; i < findings.size();) {
    if (on) std::cout << '\n';
    on = findings[i].on;
    if (!numbers) print_heading(o, *on);
    TextTable table(titles);
    for (; i < findings.size() && (numbers || findings[i].on == on); ++i) {
      const Finding& f = findings[i];
      std::vector<std::string> cells;
      if (numbers) add(cells, {std::string(f.on->capability), std::string(f.on->gpu)});
      if (ops) add(cells, {f.row->op, f.row->case_name, f.row->variant});
      if (kernels)
        add(cells, {f.row->kernel + (f.row->times > 1 ? " x " + std::to_string(f.row->times) : "")});
      add(cells, {std::to_string(f.row->threads), std::to_string(f.kernel.registers),
                  std::to_string(f.kernel.shared + f.row->dynamic), std::to_string(f.kernel.barriers)});
      if (kernels) add(cells, {std::to_string(f.kernel.spill_stores + f.kernel.spill_loads)});
      add(cells, {std::to_string(f.occupancy.blocks), std::to_string(f.occupancy.warps),
                  significant(100 * f.occupancy.ratio, 3) + " %", joined(f.occupancy.limits()),
                  savings_text(f.occupancy.one_more_block)});
      if (grids)
        add(cells, f.row->grid
                       ? std::vector<std::string>{std::to_string(f.row->grid), significant(f.waves.waves, 3),
                                                  significant(100 * f.waves.efficiency, 3) + " %"}
                       : std::vector<std::string>{"", "", ""});
      table.add(std::move(cells));
    }
    table.print(std::cout);
  }
}

/// Equal launches of one call become one row.
void add_launches(std::vector<Row>& rows, const Row& like, const std::vector<Launch>& launches) {
  const std::size_t first = rows.size();
  for (const Launch& l : launches) {
    Row row = like;
    row.symbol = tune::symbol_of(l.kernel);
    row.kernel = tune::short_name(row.symbol.name);
    row.grid = std::uint64_t(l.grid[0]) * l.grid[1] * l.grid[2];
    row.threads = int(l.block[0] * l.block[1] * l.block[2]);
    row.dynamic = l.shared;
    const auto same = std::find_if(rows.begin() + std::ptrdiff_t(first), rows.end(), [&](const Row& r) {
      return r.symbol.name == row.symbol.name && r.grid == row.grid && r.threads == row.threads &&
             r.dynamic == row.dynamic;
    });
    if (same == rows.end())
      rows.push_back(std::move(row));
    else
      ++same->times;
  }
}

std::vector<Row> rows_of(const OpEntry& entry, std::size_t index, Stream& stream) {
  const CaseInfo c = entry.op->cases()[index];
  const OpEntry name = entry.of(c);
  const DeviceKind kind = entry.cuda ? DeviceKind::cuda : DeviceKind::simt;
  const check::Problem problem(*entry.op, c, index);
  check::Placement placed(problem, stream);
  std::vector<Row> rows;
  for (const int v : name.fitting(placed.args(), kind)) {
    const Row like{std::string(name.name()),
                   std::string(c.name),
                   std::string(entry.impl(kind)->variants[std::size_t(v)].name),
                   {},
                   {}};
    add_launches(rows, like, tune::launches_of(entry, placed.args(), v, stream));
  }
  return rows;
}

/// The cases asked for, by default the last one an operator or alias has.
std::vector<std::size_t> cases_of(const OpEntry& entry, const Options& o) {
  std::vector<std::size_t> all;
  const auto cases = entry.op->cases();
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (entry.has(cases[i]) && cases[i].name.find(o.filter) != std::string_view::npos) all.push_back(i);
  if (o.filter.empty() && all.size() > 1) all.erase(all.begin(), all.end() - 1);
  return all;
}

std::vector<Row> operator_rows(const Options& o) {
  Stream stream(Device{DeviceKind::simt, 0}, 1);
  std::vector<Row> rows;
  for (const OpEntry* entry : o.selection.entries()) {
    if (!entry->cuda && !entry->simt) continue;
    for (const std::size_t i : cases_of(*entry, o))
      for (Row& row : rows_of(*entry, i, stream)) rows.push_back(std::move(row));
  }
  if (rows.empty()) fail<InvalidArgument>("occupancy: the operators and cases asked for launch no kernel");
  return rows;
}

std::vector<const tune::Multiprocessor*> capabilities(const Options& o, const tune::ResourceTable& table) {
  std::vector<const tune::Multiprocessor*> all;
  const auto known = table.capabilities();
  for (const std::string& c : o.capabilities.empty() ? known : o.capabilities) {
    all.push_back(&tune::multiprocessor(c));
    if (std::find(known.begin(), known.end(), c) != known.end()) continue;
    std::vector<std::string_view> names(known.begin(), known.end());
    fail<Unsupported>("occupancy: " + (o.table.empty() ? "this build" : o.table) + " has kernels for " +
                      joined(names) + " and not for " + c +
                      "; cmake --build BUILD --target kolmo_resources makes a --table for all");
  }
  return all;
}

std::vector<Finding> of_numbers(const Options& o, Row& row) {
  if (!o.threads) fail<InvalidArgument>("occupancy: --registers needs --threads");
  row.threads = o.threads, row.grid = o.grid, row.dynamic = 0;
  std::vector<Finding> findings;
  std::vector<std::string> all = o.capabilities;
  if (all.empty())
    for (const tune::Multiprocessor& m : tune::multiprocessors()) all.emplace_back(m.capability);
  for (const std::string& c : all) {
    tune::KernelResources kernel;
    kernel.registers = o.registers, kernel.shared = o.shared, kernel.barriers = o.barriers;
    findings.push_back(look(o, row, tune::multiprocessor(c), kernel));
  }
  return findings;
}

/// Every kernel of a table, at one block size.
std::vector<Finding> of_table(const Options& o, const tune::ResourceTable& table, std::vector<Row>& rows) {
  rows.reserve(table.kernels().size());
  std::vector<Finding> findings;
  for (const tune::Multiprocessor* on : capabilities(o, table))
    for (const tune::KernelResources& k : table.kernels()) {
      if (k.capability != on->capability) continue;
      Row row;
      row.kernel = tune::short_name(k.entry), row.threads = o.threads, row.dynamic = o.shared;
      row.grid = o.grid;
      rows.push_back(std::move(row));
      findings.push_back(look(o, rows.back(), *on, k));
    }
  return findings;
}

std::vector<Finding> of_operators(const Options& o, const tune::ResourceTable& table,
                                  std::vector<Row>& rows) {
  const auto devices = capabilities(o, table);
  rows = operator_rows(o);
  std::vector<Finding> findings;
  for (const tune::Multiprocessor* on : devices)
    for (const Row& row : rows) {
      const tune::KernelResources* k = table.find(row.symbol, on->capability);
      if (!k)
        fail<Error>("occupancy: " + row.op + ": kernel " + row.kernel + " is not in the table for " +
                    std::string(on->capability));
      findings.push_back(look(o, row, *on, *k));
    }
  return findings;
}

void run(const Options& o) {
  std::vector<Row> rows(1);
  std::vector<Finding> findings;
  if (o.registers >= 0) {
    if (!o.selection.names.empty() || !o.table.empty())
      fail<InvalidArgument>(
          "occupancy: --registers stands for a kernel, so no operator or --table is given with it");
    findings = of_numbers(o, rows[0]);
  } else {
    const tune::ResourceTable file(o.table.empty() ? "" : read_file(o.table));
    const tune::ResourceTable& table = o.table.empty() ? tune::built_resources() : file;
    if (table.kernels().empty())
      fail<Unsupported>(o.table.empty()
                            ? "occupancy: this build was made without nvcc and does not know what kernels "
                              "take; give --table FILE, or --registers and --threads"
                            : "occupancy: " + o.table + " has no line of nvcc -Xptxas -v");
    rows.clear();
    findings = o.threads ? of_table(o, table, rows) : of_operators(o, table, rows);
  }
  if (!o.json) return print(o, findings);
  Json all = Json::array();
  for (const Finding& f : findings) all.push_back(to_json(o, f));
  std::cout << all.dump(2) << '\n';
}

}  // namespace

void add_occupancy(CLI::App& app, Context&) {
  static Options o;
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
  command->add_option("--table", o.table, "what nvcc -Xptxas -v printed, instead of what this build knows")
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
  command->add_flag("--json", o.json, "print JSON");
  command->footer(
      "Examples:\n  kolmo occupancy --registers 48 --shared 8448 --threads 256 --capability 9.0\n"
      "  kolmo occupancy vector_add --capability 9.0\n"
      "  nvcc -Xptxas -v -arch=sm_90 -c mine.cu 2> mine.txt && kolmo occupancy --table mine.txt --threads "
      "256");
  command->callback([] { run(o); });
}

}  // namespace kolmo::cli
