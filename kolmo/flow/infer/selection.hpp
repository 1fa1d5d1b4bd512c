#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "kolmo/flow/data/embedding.hpp"

namespace kolmo {

/// The tests of a greedy search that may remove a value.
enum class SelectionTest : std::int32_t { min_stat, omnibus, max_seq };
inline constexpr std::string_view selection_test_names[] = {"min_stat", "omnibus", "max_seq"};

/// A value that joined what is known of a target, in nats.
struct Chosen {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();

  Coordinate value;
  double information = none;  ///< given all that had joined before
  double p_value = none;      ///< of the maximum statistic; NaN if it joined without being significant
  std::int64_t surrogates = 0;
  double given_all = none, p_given_all = none;  ///< given all others that were chosen, of sources
  std::int64_t surrogates_given_all = 0;
};

/// A value that had joined, and the test that removed it.
struct Removed {
  Coordinate value;
  SelectionTest by;
  double information;  ///< in that test; in the omnibus test of all values together
  double p_value;
};

/// Holds the values that were chosen from the sources `offered`, in the order in which they joined.
struct SourceSelection {
  std::vector<std::int32_t> offered;
  std::vector<Chosen> chosen;
  std::vector<Removed> removed;
  double first_p = 1;  ///< of the value that was tested first: of "no source tells anything"
  std::int64_t first_surrogates = 0;
  double joint = 0, joint_p = 1;  ///< of all that passed pruning, given the own past
  bool full = false;              ///< no more was tested, as the condition has max_conditions
};

/// Holds the result of a greedy search for one target.
struct TargetSelection {
  std::int32_t target = 0;
  std::int64_t samples = 0;
  std::vector<Chosen> own_past;
  std::vector<SourceSelection> sources;  ///< one of all sources, or one of each
  double storage = Chosen::none;         ///< active information storage of the own past
  bool full = false;                     ///< the own past as SourceSelection::full
};

}  // namespace kolmo
