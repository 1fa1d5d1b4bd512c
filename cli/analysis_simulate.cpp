#include <CLI/CLI.hpp>
#include <iostream>

#include "cli/analysis_options.hpp"
#include "cli/commands.hpp"
#include "kolmo/flow/simulate.hpp"

namespace kolmo::cli {
namespace {

struct Options {
  std::string system, out, truth;
  std::int64_t variables = 5, samples = 1000, seed = 0;
};

void run(const Options& o) {
  require(o.out != o.truth, "simulate: --out and --truth name the same file");
  const Simulation s = simulate(o.system, int(o.variables), o.samples, std::uint64_t(o.seed));
  write_simulation(s, o.out, o.truth);
  std::cout << o.system << ": " << s.names.size() << " variables, " << o.samples << " samples, "
            << s.links.size() << " links; " << o.out << ", " << o.truth << '\n';
}

}  // namespace

void add_simulate(CLI::App& app, Context&) {
  static Options o;
  CLI::App* c = app.add_subcommand("simulate", "Series of a random network whose links are known");
  c->add_option("SYSTEM", o.system, "coupled-logistic, var, henon, kuramoto or lorenz")
      ->required()
      ->check(CLI::IsMember({"coupled-logistic", "var", "henon", "kuramoto", "lorenz"}));
  add_count(*c, "--variables", o.variables, 1, 10000, "variables");
  add_count(*c, "--samples", o.samples, 1, 1 << 30, "samples of each");
  add_count(*c, "--seed", o.seed, 0, 9000000000000000, "seed of links, parameters and noise");
  c->add_option("--out", o.out, "the series")->required()->type_name("FILE.csv");
  c->add_option("--truth", o.truth, "the links")->required()->type_name("FILE.json");
  c->footer(
      "Example:\n  kolmo simulate var --variables 5 --samples 1000 --seed 1 --out series.csv --truth "
      "truth.json");
  c->callback([] { run(o); });
}

}  // namespace kolmo::cli
