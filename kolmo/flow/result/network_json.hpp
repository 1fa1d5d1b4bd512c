#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "kolmo/flow/result/network_document.hpp"

namespace kolmo {

/// Times of rows: column, step, unit, first and last time, gaps and how many rows are absent in them.
nlohmann::ordered_json time_json(const TimeAxis& time);

/// The options of a network as in its document: those that matter, those with which the file was read, and what follows
/// from them.
nlohmann::ordered_json document_options(const NetworkDocument& document);

/// The document as JSON, as `kolmo network --out` writes it; missing numbers are null.
nlohmann::ordered_json network_json(const NetworkDocument& document);
/// The text of that JSON, indented by two spaces, with the members of `more` at its end. Bytes that are not
/// UTF-8 are replaced. `threads` threads write the links.
std::string network_text(const NetworkDocument& document, int threads,
                         const nlohmann::ordered_json& more = nlohmann::ordered_json::object());
/// The warnings as a list of {name, text}, as in the document.
nlohmann::ordered_json warnings_json(const std::vector<Warning>& warnings);

/// A key that identifies a run by its data, options and version: runs of equal keys have equal results.
std::string run_key(const Series& series, const nlohmann::ordered_json& options);

}  // namespace kolmo
