#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/flow/result/network_document.hpp"

namespace kolmo {

/// A publication: the key of its BibTeX entry, as a line of a list of references, and the entry.
struct Reference {
  std::string_view key, text, bibtex;
};

/// How the network was inferred, as a paragraph of plain text to paste into a paper, with the numbers of this
/// run. It states only what the document's options say. A pure function.
std::string methods_text(const NetworkDocument& network);

/// The publications of the methods that this run used, in the order of the paragraph.
std::vector<Reference> references(const NetworkDocument& network);

/// Their BibTeX entries, and one for Kolmo with its version and the year of the run.
std::string bibtex(const NetworkDocument& network);

/// {text, date, data: {sha256, of}, references: [{key, text}], bibtex}; date and data if they are known.
nlohmann::ordered_json methods_json(const NetworkDocument& network);

/// SHA-256 of the data of a run: of the bytes of the file, as sha256sum prints it, if it is a regular file.
/// What came through a pipe cannot be read again: of names and values of the series then.
Checksum data_checksum(const std::string& path, const Series& series);

}  // namespace kolmo
