#pragma once
#include "kolmo/flow/infer/prepare.hpp"
#include "kolmo/flow/infer/target_search.hpp"

namespace kolmo {

/// Estimates the links from all other variables to a target, each for itself. The alternatives of a round are the lags of
/// some sources. A round has so few of them that it is short and an interruption loses little.
class PairwiseSearch final : public TargetSearch {
 public:
  /// A round of several sources has no more work than this, in estimates times rows; a core does it in some seconds.
  static constexpr double usual_round = 0x1p26;

  /// `network` must outlive it.
  PairwiseSearch(const PreparedNetwork& network, const TargetResult& target, double round = usual_round);

  std::int64_t number() const override;
  std::optional<Round> next() override;
  void take(std::span<const Estimates> estimates) override;
  std::string record() const override;
  std::int64_t replay(const std::string& record) override;

  /// The links of the rounds that were taken.
  const std::vector<LinkResult>& links() const { return links_; }

 private:
  /// The sources of the next round.
  std::span<const std::int32_t> sources() const;
  std::int64_t estimates(std::size_t sources) const;

  const PreparedNetwork& network_;
  TargetResult target_;
  std::vector<std::int32_t> sources_;
  std::size_t each_;      // sources of a round
  std::size_t last_ = 0;  // links of the round that was taken last
  std::vector<LinkResult> links_;
};

/// The work of estimating a link, in estimates times rows.
double link_work(const Series& series, const NetworkOptions& options);

/// The task of the links from some sources to a target, and the link from sources[which].
EstimationTask link_task(const Series& series, const NetworkOptions& options, const TargetResult& target,
                         std::span<const std::int32_t> sources);
LinkResult link_of(const NetworkOptions& options, std::int32_t source, std::int32_t target, std::size_t which,
                   const Estimates& estimates);

}  // namespace kolmo
