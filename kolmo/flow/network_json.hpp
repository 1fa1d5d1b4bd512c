#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "kolmo/flow/network.hpp"

namespace kolmo {

/// What the result document says of a run beside its numbers.
struct RunDescription {
  std::string command, device;
  nlohmann::ordered_json options;
};

/// The document that `kolmo network --out` writes: a pure function of its arguments, without times or dates.
/// Variables are numbered by their place in options.variables; numbers that do not exist are null.
/// `bits`: values in bits, else in nats.
nlohmann::ordered_json network_json(const Network& network, const Series& series,
                                    const NetworkOptions& options, const RunDescription& run, bool bits);

/// Tells a run by its data, options and version: runs of equal keys have equal results.
std::string run_key(const Series& series, const nlohmann::ordered_json& options);

}  // namespace kolmo
