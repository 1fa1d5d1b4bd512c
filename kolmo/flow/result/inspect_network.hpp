#pragma once
#include <vector>

#include "kolmo/flow/data/warning.hpp"
#include "kolmo/flow/infer/prepare.hpp"

namespace kolmo {

/// Warns of limits of the tests of a network:
///   few_surrogates, fewer_surrogates
///   untested             there are no surrogates, so that no link is tested
///   too_few_surrogates   no link by itself can reach the level after correction; of sequential tests only if one ended at its
///                        last surrogate, none of which had reached the value, and is not significant
///   duplicate            two variables have the same values, of greedy searches or with conditional_all
///   infinite             a source determines a target
///   analytic_test        of greedy searches for mutual information: the analytic tests of slow series do not hold
///   max_conditions       greedy searches of some targets ended as their conditions were full
///   negative             links have a small p and a value below 0; such links are never significant
std::vector<Warning> inspect(const Network& network, const PreparedNetwork& prepared);

}  // namespace kolmo
