#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kolmo/flow/request/request.hpp"

namespace kolmo {

/// The options that matter for the values of a settled request, by name: JSON that read_options() takes.
nlohmann::ordered_json options_json(const EntropyRequest& settled);
nlohmann::ordered_json options_json(const MutualInformationRequest& settled);
nlohmann::ordered_json options_json(const StorageRequest& settled);
nlohmann::ordered_json options_json(const TransferEntropyRequest& settled);
nlohmann::ordered_json options_json(const NetworkRequest& settled);

/// Sets options by name or alias. What a result's document tells beside its options (the file, how it was read, what follows
/// from other options) is passed over. Throws InvalidArgument, naming the option, for an unknown one or a value that is not
/// accepted; `analysis` is for the message.
void read_options(Options options, void* request, const nlohmann::ordered_json& values,
                  std::string_view analysis);

/// Options as on the command line, a flag without a value.
using CommandOptions = std::vector<std::pair<std::string, std::string>>;
/// Those of a request that differ from the usual ones, but for options beside the result.
CommandOptions command_options(Options options, const void* request, const void* usual);

/// ", "-separated options that differ from the usual ones and of which the methods text has no sentence: "theiler 10".
std::string other_options(const NetworkRequest& settled);

}  // namespace kolmo
