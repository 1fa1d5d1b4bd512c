#pragma once

#include <string>
#include <vector>

#include "kolmo/flow/result/network_document.hpp"

// Sentences and tables of the report as HTML text.
namespace kolmo::prose {

/// One sentence: how many pairs are significant, and the strongest; or that no link is significant.
std::string headline(const NetworkDocument& network);

/// Two sentences: what transfer entropy is with its units, and the null hypothesis with the correction.
std::string meaning(const NetworkDocument& network);

/// What pairwise links do not show.
std::string cautions(const NetworkDocument& network);

/// A section with the document's warnings, or "".
std::string warnings(const NetworkDocument& network);

/// A sortable table of links: source, target, lag, value, bias-corrected value, z, 95 % quantile of the
/// surrogates, p, adjusted p. `name` is the name of the file as which it can be saved.
std::string link_table(const NetworkDocument& network, const std::vector<const NetworkLink*>& links,
                       const std::string& name, const std::string& caption);

/// Details of a greedy network: each value that was chosen for these links, or without links for each variable, with its p, and
/// the commands that estimate the links alone.
std::string values_details(const NetworkDocument& network, const std::vector<const NetworkLink*>& links);

/// The text of a p-value (p_text) for readers of a page: "≤ 1/201"; the number where the text is "-".
std::string p_label(const std::string& text, double p);

/// These take the place of headline, meaning and the sections of links in networks of active information storage alone.
std::string storage_headline(const NetworkDocument& network);
std::string storage_meaning(const NetworkDocument& network);
std::string storage_section(const NetworkDocument& network);

/// What each variable sends and receives over significant links.
std::string totals_table(const NetworkDocument& network);

/// The paragraph on methods with its references, to copy or save.
std::string methods(const NetworkDocument& network);

std::string settings(const NetworkDocument& network);
std::string target_table(const NetworkDocument& network);

}  // namespace kolmo::prose
