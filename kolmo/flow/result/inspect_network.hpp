#pragma once
#include <vector>

#include "kolmo/flow/data/warning.hpp"
#include "kolmo/flow/infer/network.hpp"

namespace kolmo {

/// What limits the tests of a network:
///   few_surrogates
///   untested             there are no surrogates, so that no link is tested
///   too_few_surrogates   no link by itself can reach the level after correction
///   negative             links whose value is below 0, where p is small: these are never significant
std::vector<Warning> inspect(const Network& network, const Series& series, const NetworkOptions& options);

}  // namespace kolmo
