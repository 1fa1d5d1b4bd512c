#pragma once
#include "cli/context.hpp"

namespace kolmo::cli {

// A family of subcommands is one file with one function that adds them to the application. Its callbacks do
// the work after the command line was parsed. They throw errors: InvalidArgument and Unsupported give exit
// status 2, all others 1. To add a family, declare its function here and list it below.
void add_entropy(CLI::App& app, Context& context);     // entropy
void add_mi(CLI::App& app, Context& context);          // mi
void add_te(CLI::App& app, Context& context);          // te
void add_ais(CLI::App& app, Context& context);         // ais
void add_network(CLI::App& app, Context& context);     // network
void add_forecast(CLI::App& app, Context& context);    // forecast
void add_topology(CLI::App& app, Context& context);    // topology
void add_stream(CLI::App& app, Context& context);      // stream
void add_simulate(CLI::App& app, Context& context);    // simulate
void add_catalogue(CLI::App& app, Context& context);   // devices, list, info
void add_validate(CLI::App& app, Context& context);    // validate
void add_bench(CLI::App& app, Context& context);       // bench
void add_pipeline(CLI::App& app, Context& context);    // pipeline
void add_tune(CLI::App& app, Context& context);        // tune
void add_run(CLI::App& app, Context& context);         // run
void add_occupancy(CLI::App& app, Context& context);   // occupancy
void add_serve(CLI::App& app, Context& context);       // serve
void add_top(CLI::App& app, Context& context);         // top
void add_memory(CLI::App& app, Context& context);      // memory
void add_advise(CLI::App& app, Context& context);      // advise
void add_completion(CLI::App& app, Context& context);  // completion

/// All families, in the order in which the help lists them.
inline constexpr void (*commands[])(CLI::App&, Context&) = {
    add_entropy, add_mi,        add_te,        add_ais,      add_network, add_forecast, add_topology,
    add_stream,  add_simulate,  add_catalogue, add_validate, add_bench,   add_tune,     add_pipeline,
    add_run,     add_occupancy, add_memory,    add_advise,   add_serve,   add_top,      add_completion,
};

}  // namespace kolmo::cli
