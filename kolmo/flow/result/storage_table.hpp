#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kolmo/flow/result/network_document.hpp"

// Results of greedy searches of measure `ais`, which choose the own past of each variable.
namespace kolmo {

/// The test of a variable's own past: of all chosen values together or, where none joined, of the value that was tested first.
struct StorageTest {
  double p_value;
  std::int64_t surrogates;  ///< as many as it may have drawn; 0 if it is analytic
  bool at_floor;            ///< see p_at_floor
  std::string text;         ///< see p_text
};
StorageTest storage_test(const NetworkDocument& network, const NetworkTarget& target);

/// A text about surrogates of a source, told of a variable's past, which has none.
std::string of_own_past(std::string text);

/// The lags of the own past of a target, ascending.
std::vector<int> own_lags(const NetworkTarget& target);

/// The number of variables whose own past was chosen.
std::size_t storing_variables(const NetworkDocument& network);

/// The variables as CSV, one row each. Columns: variable, lags (of the chosen own past), value (active information storage),
/// p_value, p_at_floor (true or false), surrogates, samples, units. Numbers are as those of link_table_csv. Throws the exceptions of
/// checked().
std::string storage_table_csv(const NetworkDocument& network);

}  // namespace kolmo
