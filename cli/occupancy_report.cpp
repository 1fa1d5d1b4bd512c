#include "cli/occupancy_report.hpp"

#include <algorithm>
#include <climits>
#include <iostream>

#include "cli/table.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

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

void print_heading(const Finding& f) {
  std::cout << paint(Color::bold, "capability " + std::string(f.on->capability)) << ", ";
  if (f.processors == f.on->count) std::cout << "e.g. " << f.on->gpu << " with ";
  std::cout << f.processors << " multiprocessors\n";
}

/// Operator, case and variant of a row, each empty if the row above has the same.
std::vector<std::string> changed(const Row& above, const Row& row) {
  const bool op = above.op != row.op, c = op || above.case_name != row.case_name;
  return {op ? row.op : "", c ? row.case_name : "", c || above.variant != row.variant ? row.variant : ""};
}

}  // namespace

Finding look(const Row& row, const tune::Multiprocessor& on, const tune::KernelResources& kernel,
             int processors) {
  const tune::Resources r{row.threads, kernel.registers, kernel.shared + row.dynamic, kernel.barriers};
  Finding f{&row, &on, kernel, processors ? processors : on.count, tune::occupancy(on, r), {}};
  f.waves = tune::waves(row.grid, f.occupancy, f.processors);
  return f;
}

Json to_json(const Finding& f) {
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
    j["grid"] = row.grid, j["multiprocessors"] = f.processors;
    j["waves"] = f.waves.waves, j["wave_efficiency"] = f.waves.efficiency;
  }
  return j;
}

void print(const std::vector<Finding>& findings) {
  const auto have = [&](auto part) { return std::any_of(findings.begin(), findings.end(), part); };
  const bool ops = have([](const Finding& f) { return !f.row->op.empty(); });
  const bool kernels = have([](const Finding& f) { return !f.row->kernel.empty(); });
  const bool grids = have([](const Finding& f) { return f.row->grid != 0; });
  const bool numbers = !ops && !kernels;  // one launch, given by numbers, on several capabilities
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
    if (!numbers) print_heading(findings[i]);
    TextTable table(titles);
    for (; i < findings.size() && (numbers || findings[i].on == on); ++i) {
      const Finding& f = findings[i];
      std::vector<std::string> cells;
      if (numbers) add(cells, {std::string(f.on->capability), std::string(f.on->gpu)});
      if (ops)
        add(cells,
            i > 0 && findings[i - 1].on == on ? changed(*findings[i - 1].row, *f.row) : changed({}, *f.row));
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

}  // namespace kolmo::cli
