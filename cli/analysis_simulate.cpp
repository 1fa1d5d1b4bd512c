#include <CLI/CLI.hpp>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/option.hpp"
#include "kolmo/flow/simulate/simulate.hpp"

namespace kolmo::cli {
namespace {

struct SimulateFlags {
  std::string system, out, truth;
  std::int64_t variables = 5, rows = 1000, seed = 0;
};

void run(const SimulateFlags& o) {
  const Simulation s = simulate(o.system, int(o.variables), o.rows, std::uint64_t(o.seed));
  write_simulation(s, o.out, o.truth);
  std::cout << o.system << ": " << s.names.size() << " variables, " << o.rows << " rows, " << s.links.size()
            << " links; " << o.out << ", " << o.truth << '\n';
}

}  // namespace

void add_simulate(CLI::App& app, Context&) {
  static SimulateFlags o;
  CLI::App* c = app.add_subcommand("simulate", "Series of a random network whose links are known");
  c->add_option("SYSTEM", o.system, "coupled-logistic, var, henon, kuramoto or lorenz")
      ->required()
      ->check(CLI::IsMember({"coupled-logistic", "var", "henon", "kuramoto", "lorenz"}));
  add_count(*c, "--variables", o.variables, 1, 10000, "variables");
  add_count(*c, "--rows,--samples", o.rows, 1, 1 << 30, "rows");
  add_count(*c, "--seed", o.seed, 0, 9000000000000000, "seed of links, parameters and noise");
  add_output(*c, "--out", o.out, "the series")->required()->type_name("FILE.csv");
  add_output(*c, "--truth", o.truth, "the links")->required()->type_name("FILE.json");
  c->footer(
      "Example:\n  kolmo simulate var --variables 5 --rows 1000 --seed 1 --out series.csv --truth "
      "truth.json");
  c->callback([] { run(o); });
}

}  // namespace kolmo::cli
