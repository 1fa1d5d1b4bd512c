#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "kolmo/flow/result/network_document.hpp"

namespace kolmo {

/// The document that `kolmo network --out` writes; missing numbers are null.
nlohmann::ordered_json network_json(const NetworkDocument& document);
/// Its text, indented by two spaces, with the members of `more` at its end. Bytes that are not UTF-8 are replaced. Links
/// are written by `threads` threads.
std::string network_text(const NetworkDocument& document, int threads,
                         const nlohmann::ordered_json& more = nlohmann::ordered_json::object());
/// A list of {name, text}, as in the document.
nlohmann::ordered_json warnings_json(const std::vector<Warning>& warnings);

/// Identifies a run by its data, options and version: runs of equal keys have equal results.
std::string run_key(const Series& series, const nlohmann::ordered_json& options);

}  // namespace kolmo
