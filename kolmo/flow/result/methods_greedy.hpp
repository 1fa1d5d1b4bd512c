#pragma once
#include <string>
#include <vector>

#include "kolmo/flow/result/methods.hpp"

namespace kolmo {

/// The sentences of methods_text() on how greedy searches chose and tested; `surrogates` says what a surrogate is.
std::string greedy_sentences(const NetworkDocument& network, const std::string& surrogates);
/// The publications of greedy searches and their tests.
std::vector<Reference> greedy_references(const NetworkDocument& network);

}  // namespace kolmo
