#pragma once
#include <string>
#include <vector>

#include "kolmo/flow/result/methods.hpp"

namespace kolmo {

/// Of sequential tests, greedy or not.
inline constexpr Reference besag{
    "besag1991",
    "J. Besag, P. Clifford, Sequential Monte Carlo p-values, Biometrika 78, 301 (1991), "
    "doi:10.1093/biomet/78.2.301",
    "@article{besag1991,\n  author = {Besag, Julian and Clifford, Peter},\n"
    "  title = {Sequential {Monte Carlo} p-values},\n  journal = {Biometrika},\n  volume = {78},\n"
    "  pages = {301--304},\n  year = {1991},\n  doi = {10.1093/biomet/78.2.301}\n}\n"};

/// The sentences of methods_text() on how greedy searches chose and tested; `surrogates` says what a surrogate is.
std::string greedy_sentences(const NetworkDocument& network, const std::string& surrogates);
/// The publications of greedy searches and their tests.
std::vector<Reference> greedy_references(const NetworkDocument& network);

}  // namespace kolmo
