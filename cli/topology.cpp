#include "kolmo/topology/analysis/topology.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/analysis.hpp"
#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/option.hpp"
#include "cli/table.hpp"
#include "kolmo/flow/estimate/progress.hpp"

namespace kolmo::cli {
namespace {

using namespace topology;

struct TopologyFlags {
  TopologyRequest request;
  std::string file, out;
  bool json = false;
  InputOptions input;
};

std::string scale(double value) { return value < HUGE_VAL ? significant(value) : "never"; }

/// The intervals of a dimension that persist longest.
void print_longest(const Diagram& diagram, const char* dimension, TextTable& table) {
  constexpr std::size_t most = 8;
  Diagram longest = diagram;
  std::ranges::stable_sort(longest, std::greater(), &Interval::persistence);
  longest.resize(std::min(most, longest.size()));
  for (const Interval& i : longest)
    table.add({dimension, significant(i.birth), scale(i.death), scale(i.persistence())});
}

void print_one(const Window& w) {
  TextTable table({"", ">birth", ">death", ">persistence"});
  print_longest(w.diagrams.h0, "component", table);
  print_longest(w.diagrams.h1, "loop", table);
  table.print(std::cout);
  std::cout << w.points << " points, " << w.diagrams.h0.size() << " components and " << w.diagrams.h1.size()
            << " loops up to scale " << significant(w.diagrams.threshold)
            << "; those that persist longest are shown\n";
}

void print_windows(const std::vector<Window>& windows, Comparison compare) {
  TextTable table({">rows from", ">to", ">loops", ">longest from", ">to", ">persistence",
                   '>' + std::string(comparison_names[std::size_t(compare)])});
  for (const Window& w : windows) {
    const Interval longest = w.longest();
    table.add({std::to_string(w.begin), std::to_string(w.end - 1), std::to_string(w.diagrams.h1.size()),
               significant(longest.birth), scale(longest.death), scale(longest.persistence()),
               w.distance ? scale(*w.distance) : ""});
  }
  table.print(std::cout);
}

void run_topology(const TopologyFlags& o) {
  const Table table = read_table(o.file, o.input.table());
  for (const Remark& r : table.remarks) print_warning({r.name, r.text});
  std::vector<Window> windows;
  {
    Progress progress(1, "parts");
    double before = 0;
    windows = analyse_topology(o.request, table, [&](double done, double total) {
      progress.advance(std::max(0.0, done / total - before));
      before = std::max(before, done / total);
    });
  }
  if (!o.out.empty()) write_results({{o.out, topology_csv(windows)}});
  if (o.out == "-") return;
  if (o.json)
    std::cout << topology_json(windows, o.file)
                     .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
              << '\n';
  else if (o.request.window)
    print_windows(windows, o.request.compare);
  else
    print_one(windows.front());
}

}  // namespace

void add_topology(CLI::App& app, Context&) {
  using I = TopologyInfo;
  CLI::App* const c = app.add_subcommand(std::string(I::name), std::string(I::summary));
  const auto flags = std::make_shared<TopologyFlags>();
  add_input(*c, "FILE", flags->file,
            "CSV, TSV, whitespace columns with % or # comments, or NPY, also packed by gzip; - reads "
            "standard input")
      ->required();
  add_options(*c, topology_options(), &flags->request);
  add_output(*c, "--out", flags->out, "write all intervals: begin of the window, dimension, birth, death")
      ->type_name("FILE.csv");
  flags->input.add(*c);
  c->add_flag("--json", flags->json, "print one JSON object");
  c->footer(std::string(I::about) + "\nExample:\n  " + std::string(I::example) + "\n" + columns_help);
  c->callback([flags] { run_topology(*flags); });
}

}  // namespace kolmo::cli
