#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "kolmo/flow/network_document.hpp"

namespace kolmo {

/// The document that `kolmo network --out` writes; missing numbers are null.
nlohmann::ordered_json network_json(const NetworkDocument& document);
/// A list of {name, text}, as in the document.
nlohmann::ordered_json warnings_json(const std::vector<Warning>& warnings);

/// Identifies a run by its data, options and version: runs of equal keys have equal results.
std::string run_key(const Series& series, const nlohmann::ordered_json& options);

}  // namespace kolmo
