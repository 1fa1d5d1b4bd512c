#include "cli/tune.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "kolmo/tune/strategy.hpp"

namespace kolmo::cli {
namespace {

template <class Names>
std::vector<std::string> strings(const Names& names) {
  return {std::begin(names), std::end(names)};
}

}  // namespace

void add_tune(CLI::App& app, Context& context) {
  static TuneCommand o;
  auto* command = app.add_subcommand("tune", "Find the fastest configuration of operators, and remember it");
  o.selection.add(*command);
  o.device.add(*command);
  auto* cases = command
                    ->add_option("--case", o.filter,
                                 "only cases with this text in their name; default: the benchmark's, or all "
                                 "where there are none")
                    ->type_name("TEXT");
  command
      ->add_flag("--misses", o.misses, "the calls that were seen without a configuration, instead of cases")
      ->excludes(cases);
  command->add_flag("--stale", o.stale,
                    "leave out what the store has a result for that is neither old nor stale");
  command->add_option("--strategy", o.search.strategy, "how to search: halving, exhaustive, random or climb")
      ->capture_default_str()
      ->check(CLI::IsMember(strings(tune::strategy_names)))
      ->type_name("STRATEGY");
  command
      ->add_option("--budget", o.budget,
                   "time for everything, shared out among the cases; what is not reached is listed; 0: no "
                   "limit, and about 5 s of measuring a case")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("SECONDS");
  command
      ->add_option(
          "--mode", o.mode,
          "measure as it will be used: stream_hot, stream_cold (caches overwritten before every sample), "
          "graph_hot, graph_cold or eager; default stream_cold on cuda, else stream_hot")
      ->check(CLI::IsMember(strings(tune::mode_names)))
      ->type_name("MODE");
  command
      ->add_option("--store", o.store,
                   "folder of results; default $KOLMO_TUNING, or kolmo/tuning in $XDG_CACHE_HOME or ~/.cache")
      ->type_name("DIR");
  command->add_flag("--under-load", o.under_load,
                    "measure although other programs disturb it; by default their share is left out, and a "
                    "case that they disturb most of the time fails");
  command->add_flag("--dry-run", o.dry_run, "measure and report, store nothing");
  command->add_flag("--json", o.json, "print JSON with every configuration's times");
  add_output(*command, "--record", o.record, "also write the report to this JSON file")
      ->type_name("FILE.json");
  auto* list = command->add_flag("--list", o.list, "show what the store holds");
  auto* exporting =
      add_output(*command, "--export", o.export_to, "write all results to one file")->type_name("FILE");
  auto* importing =
      add_input(*command, "--import", o.import_from, "take results from such a file; newer ones stay")
          ->type_name("FILE");
  auto* gc = command
                 ->add_option("--gc", o.keep,
                              "remove damaged files, and the oldest results beyond this many bytes (as 64MB)")
                 ->transform(CLI::AsSizeValue(false))
                 ->type_name("BYTES");
  for (auto* action : {list, exporting, importing, gc})
    for (auto* other : {list, exporting, importing, gc})
      if (action != other) action->excludes(other);
  command->footer(
      "A configuration replaces the default only where the lower 95 % bound of its gain exceeds 2 % and its "
      "results\n"
      "agree with the operator's oracle. Sizes share a configuration by buckets: powers of two up to 256, "
      "then four\n"
      "per octave.\n"
      "Example:\n  kolmo tune vector_add --device cpu --budget 20\n"
      "  kolmo tune --export tuning.json");
  command->callback([&context, gc] {
    o.gc = gc->count() > 0;
    tune::Store store(o.store.empty() ? tune::Store::default_root() : o.store);
    require(o.dry_run || store.root() != "off" || !o.store.empty(),
            "tune: tuning is off ($KOLMO_TUNING); name a folder with --store");
    if (o.list || o.gc || !o.export_to.empty() || !o.import_from.empty()) return manage_store(o, store);
    tune_operators(o, store, context);
  });
}

}  // namespace kolmo::cli
