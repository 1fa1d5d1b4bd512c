#pragma once
#include "kolmo/flow/infer/checkpoint.hpp"
#include "kolmo/flow/infer/prepare.hpp"

namespace kolmo {

class Progress;

/// The part of infer_network that is done by a GreedySearch of each target.
Network infer_greedily(const PreparedNetwork& prepared, const Streams& streams, FinishedWork* work,
                       Progress* progress);

/// Whether the records of infer_greedily bring the search of a target to its end.
bool is_searched(const PreparedNetwork& prepared, std::int32_t target, const FinishedWork::Records& records);

/// The work of infer_greedily, if for every target one value of its own past and two of sources are chosen and no test ends
/// early, in estimates times rows.
double greedy_work(const Series& series, const NetworkOptions& options);

/// Sets p_adjusted and significant of the links of greedy searches. In each search of sources the p-values hold a level for
/// all its links together; what remains is that there are many searches. Those with a source are told by adjusting the
/// p-values of the first values that were tested (SourceSelection::first_p) by the correction. If they are R of m, a link of
/// theirs is significant at the level alpha R / m, so that the mean over them of "a link is false" is at most alpha:
///   p_adjusted = max(adjusted first_p, p m / R)      bh
///   p_adjusted = p m                                 bonferroni
/// A link is significant only if its source was chosen. GreedyRules::idtxl: the p-values of the omnibus tests of all
/// targets are adjusted by Benjamini's and Yekutieli's form (Ann. Stat. 29, 1165, 2001) for bh; links have that of their
/// target. The tests were made on the data that chose the sources, so that this removes next to nothing.
/// Source: Benjamini, Bogomolov, J. R. Stat. Soc. B 76, 297 (2014).
void adjust_selected(Network& network, const NetworkOptions& options);

}  // namespace kolmo
