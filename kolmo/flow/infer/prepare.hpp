#pragma once
#include "kolmo/flow/infer/network.hpp"

namespace kolmo {

/// The min_shift of each link: the one given, or, as settled() chooses it, of the longest Autocorrelation::length of its source,
/// its target and the variables in the condition, and of the link's rows. A slowly varying series takes shifts from its own links
/// only. 0 for
/// surrogates that are not circular.
class LinkShifts {
 public:
  /// `series` must outlive it.
  LinkShifts(const Series& series, const NetworkOptions& options);
  std::int64_t of(std::int32_t source, std::int32_t target) const;

 private:
  std::int64_t rows(std::int32_t source, std::int32_t target) const;

  const Series* series_;
  std::vector<std::int32_t> given_;
  std::int64_t fixed_ = 0, reach_ = 0;
  std::int64_t rows_ = 0;  // of links whose variables have a value in every row
  std::vector<std::int64_t>
      length_;  // of each variable, at least those of the condition; empty if all are fixed
};

/// A series and options that fit each other, with all that is chosen from the series before the first estimate. The series
/// must outlive it.
struct PreparedNetwork {
  const Series& series;
  NetworkOptions options;  ///< settled, but for min_shift, which each link has of its own
  LinkShifts shifts;
};

/// Looks at the series, settles the parameters of surrogates by the longest embedding that may be chosen, and checks the
/// options. Throws InvalidArgument, naming the variable, if infer_network cannot run: fewer than two variables, a target that
/// is none of them, too few rows for the longest embedding, more than 16 dimensions.
PreparedNetwork prepare_network(const Series& series, const NetworkOptions& options);

/// Throws InvalidArgument as check_task does; if variables lack values, the message names the one that has the fewest.
void check_rows(const Series& series, const EstimationTask& task, std::span<const std::int32_t> variables,
                const EstimatorOptions& options);

/// The embedding with the most and oldest values that may be chosen for a target.
Embedding longest_embedding(const NetworkOptions& options);

/// The largest lag of any value that a greedy search may choose.
std::int64_t greedy_reach(const NetworkOptions& options);

/// The largest lag in a link's embedding, in rows; the same for every source and lag of a target. Of greedy searches
/// greedy_reach.
std::int64_t network_reach(const NetworkOptions& options, const Embedding& target);

}  // namespace kolmo
