#pragma once

#include <string>
#include <vector>

#include "kolmo/flow/network_document.hpp"

// Sentences and tables of the report as HTML text.
namespace kolmo::prose {

/// One sentence: how many pairs are significant, and the strongest; or that no edge survived.
std::string headline(const NetworkDocument& network);

/// Two sentences: what transfer entropy is with its units, and the null hypothesis with the correction.
std::string meaning(const NetworkDocument& network);

/// Paragraphs that a reader must know about this run: what pairwise links do not show, and whether the number
/// of surrogates limits what can be significant.
std::string cautions(const NetworkDocument& network);

/// Sortable table of links: source, target, lag, value, p, corrected p.
std::string link_table(const NetworkDocument& network, const std::vector<const NetworkLink*>& links,
                       const std::string& caption);

std::string settings(const NetworkDocument& network);
std::string target_table(const NetworkDocument& network);

}  // namespace kolmo::prose
