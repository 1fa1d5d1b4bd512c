#pragma once
#include "cli/context.hpp"

namespace kolmo::cli {

// A family of subcommands is one file with one function that adds them to the application; its callbacks do
// the work when the command line has been parsed. Errors are thrown: InvalidArgument and Unsupported end with
// status 2, everything else with 1. To add a family, declare its function here and list it below.
void add_catalogue(CLI::App& app, Context& context);  // devices, list, info

/// In the order of the help.
inline constexpr void (*commands[])(CLI::App&, Context&) = {
    add_catalogue,
};

}  // namespace kolmo::cli
