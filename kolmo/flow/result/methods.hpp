#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/flow/result/network_document.hpp"

namespace kolmo {

/// A publication: the key of its BibTeX entry, its line in a list of references, and the entry.
struct Reference {
  std::string_view key, text, bibtex;
};

/// Tells how the network was inferred, in a paragraph of plain text to paste into a paper, with the numbers
/// of this run. It states only what the document's options say. A pure function.
std::string methods_text(const NetworkDocument& network);

/// The publications of the methods that this run used, in the order in which methods_text() mentions them.
std::vector<Reference> references(const NetworkDocument& network);

/// The BibTeX entries of references(), and one for Kolmo with its version and the year of the run.
std::string bibtex(const NetworkDocument& network);

/// {text, date, data: {sha256, of}, references: [{key, text}], bibtex}; date and data if they are known.
nlohmann::ordered_json methods_json(const NetworkDocument& network);

/// SHA-256 of the data of a run. For a regular file it is that of the file's bytes, as sha256sum prints it.
/// Data from a pipe cannot be read again; the names and values of the series are hashed then.
Checksum data_checksum(const std::string& path, const Series& series);

}  // namespace kolmo
